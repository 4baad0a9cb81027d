use super::*;
use boatload_base::random::{Stream, draw};
use boatload_plan::Scale;
use boatload_results::book::MadeOn;
use boatload_results::fixture;

/// About one percent of noise around zero.
fn noise(seed: u64, n: usize) -> Vec<f64> {
    let one = |at: usize| {
        let uniform =
            |part: u64| draw(seed, Stream::Order, at as u64 * 4 + part) as f64 / u64::MAX as f64;
        (0..4).map(uniform).sum::<f64>() / 4.0 - 0.5
    };
    (0..n).map(|at| one(at) * 0.07).collect()
}

#[test]
fn noise_without_a_step_has_hardly_ever_one() {
    let false_alarms: usize = (0..200).map(|seed| steps(&noise(seed, 30)).len()).sum();
    assert!(false_alarms <= 6, "{false_alarms} of 200");
}

#[test]
fn a_step_is_found_where_it_is_with_what_lies_on_both_sides() {
    let (mut only, mut exact) = (0, 0);
    for seed in 0..50 {
        let mut values = noise(seed, 30);
        values[20..].iter_mut().for_each(|value| *value += 0.10);
        let found = steps(&values);
        let nearest = found.iter().min_by_key(|step| step.index.abs_diff(20)).unwrap();
        assert!((nearest.after - nearest.before - 0.1).abs() < 0.03, "{found:?}");
        exact += usize::from(nearest.index == 20);
        only += usize::from(found.len() == 1);
    }
    assert!(exact >= 45, "{exact} of 50 at its very place");
    assert!(only >= 47, "{only} of 50 with nothing else");
}

#[test]
fn a_step_three_runs_ago_is_found_as_well() {
    for seed in 0..50 {
        let mut values = noise(seed, 30);
        values[27..].iter_mut().for_each(|value| *value -= 0.10);
        let found = steps(&values);
        assert!(found.iter().any(|step| step.index == 27), "{seed}: {found:?}");
    }
}

#[test]
fn two_steps_come_in_their_order_and_two_runs_make_none() {
    let values = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0];
    let at: Vec<_> = steps(&values).iter().map(|step| step.index).collect();
    assert_eq!(at, [3, 6]);
    assert_eq!(steps(&[1.0, 1.0, 1.0, 1.0, 2.0, 2.0]), []);
    assert_eq!((steps(&[]), steps(&[f64::NAN; 9])), (vec![], vec![]));
}

#[test]
fn another_kernel_is_the_same_target_and_another_disk_or_job_is_not() {
    let a = fixture::book();
    let with = |change: fn(&mut Book)| {
        let mut b = fixture::book();
        change(&mut b);
        same_target(&a, &b)
    };
    assert!(with(|_| ()));
    assert!(with(|b| b.host.kernel = "Linux 7.0".into()));
    assert!(with(|b| b.run.seed = Some(3)));
    assert!(with(|b| b.run.job += "# a word\n"));
    assert!(with(|b| b.run.job = b.run.job.replacen('\n', " # a word\n", 1)));
    assert!(with(|b| b.host.memory_bytes -= 4_000_000));
    assert!(!with(|b| b.host.memory_bytes /= 2));
    assert!(!with(|b| b.host.filesystem.kind = "xfs".into()));
    assert!(with(|b| b.host.filesystem.journal = None), "nobody looked");
    assert!(!with(|b| b.host.filesystem.journal = Some(false)));
    assert!(!with(|b| b.host.device = None));
    assert!(!with(|b| b.run.job += "threads = 2\n"));
    assert!(!with(|b| b.run.parameters.clear()));
    assert!(!with(|b| b.run.scale = Scale::Standard));
    assert!(!with(|b| b.measurements[0].threads = Some(7)));
    assert!(!with(|b| b.run.hosts = vec!["node0".into(), "node1".into()]));
    assert!(!with(|b| b.filesystems.push(fixture::made::filesystem("ext4", "ext4"))));
}

#[test]
fn another_modelled_disk_is_another_target_and_another_machine_disk_below_it_is_not() {
    let a = fixture::made::modelled_book();
    let with = |change: fn(&mut Book)| {
        let mut b = fixture::made::modelled_book();
        change(&mut b);
        same_target(&a, &b)
    };
    assert!(with(|b| b.host.device = None));
    assert!(with(|b| b.host.filesystem.kind = "xfs".into()));
    assert!(with(|b| b.filesystems[0].place = MadeOn::Image));
    assert!(!with(|b| b.filesystems[0].disk.as_mut().unwrap().model += "rpm = 1\n"));
    assert!(!with(|b| b.filesystems[0].disk = None));
    assert!(!with(|b| b.host.cpu = "another".into()));
}

#[test]
fn a_file_system_that_was_made_elsewhere_is_another_target() {
    let on = |place, model: Option<&str>, bytes| {
        let mut book = fixture::made::book();
        for made in &mut book.filesystems {
            (made.place, made.device_bytes) = (place, bytes);
            let device = made.device.as_mut().unwrap();
            (device.model, device.total_bytes) = (model.map(String::from), Some(bytes));
        }
        book
    };
    let device = on(MadeOn::Device, Some("ACME 9"), 10 << 30);
    let is_same = |other: &Book| same_target(&device, other);
    assert!(is_same(&device));
    assert!(!is_same(&on(MadeOn::Device, Some("ACME 10"), 10 << 30)));
    assert!(!is_same(&on(MadeOn::Device, Some("ACME 9"), 20 << 30)));
    assert!(!is_same(&on(MadeOn::Image, Some("ACME 9"), 10 << 30)));
    let image = on(MadeOn::Image, None, 10 << 30);
    assert!(!same_target(&image, &on(MadeOn::Memory, None, 10 << 30)));
    assert!(!same_target(&image, &on(MadeOn::Image, None, 20 << 30)));
    let mut other_loop = image.clone();
    other_loop.filesystems[0].device.as_mut().unwrap().name = "loop7".into();
    assert!(same_target(&image, &other_loop), "loop devices are numbered as they come");
}
