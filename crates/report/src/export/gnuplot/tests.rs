use super::*;
use crate::export::tests::made;
use boatload_base::failure::garbles;

/// Text between single quotes of a script, as gnuplot reads it, and what is left without it.
fn parts(script: &str) -> (Vec<String>, String) {
    let (mut quoted, mut code) = (Vec::new(), String::new());
    let mut rest = script;
    while let Some((before, after)) = rest.split_once('\'') {
        code.push_str(before);
        let mut end = 0;
        while let Some(at) = after[end..].find('\'') {
            end += at;
            if !after[end + 1..].starts_with('\'') {
                break;
            }
            end += 2;
        }
        quoted.push(after[..end].replace("''", "'"));
        rest = &after[end + 1..];
    }
    (quoted, code + rest)
}

#[test]
fn text_of_users_stands_in_single_quotes_and_nowhere_else() {
    for chart in made::all() {
        let [script, data] = texts(&chart);
        let (_, code) = parts(&script.text);
        assert!(!code.contains(['`', '@', '$']), "{code}");
        assert!(!code.contains("script"), "{code}");
        for text in [&script.text, &data.text] {
            assert!(text.chars().all(|c| c == '\n' || !garbles(c)));
        }
        let rows = data.text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        for row in rows {
            let is_number = |word: &str| word.parse::<f64>().is_ok();
            assert!(row.split(' ').all(is_number), "{row}");
        }
    }
}

#[test]
fn the_notes_of_a_chart_stand_above_its_data() {
    for chart in made::all() {
        let [_, data] = texts(&chart);
        for note in chart.all_notes() {
            assert!(data.text.contains(&format!("# {}\n", shown(&note))), "{note}");
        }
    }
}

#[test]
fn a_script_reads_every_block_of_its_data() {
    for chart in made::all() {
        let [script, data] = texts(&chart);
        for at in 0..data.text.matches("# place").count() {
            let index = format!("index {at} using");
            assert!(script.text.contains(&index), "{index} in {}", script.text);
        }
    }
}

#[test]
fn a_name_that_is_a_command_stays_a_name() {
    assert_eq!(quoted("it's `id` \"x\"\n\\"), "'it''s `id` \"x\"\\n\\'");
    let named = ChartAxis::named("a", vec!["50%".into()]);
    let lines = axis("x", &named);
    assert!(lines[1].ends_with("('50%%' 0)"), "{lines:?}");
}

#[test]
fn numbers_keep_all_their_figures() {
    let texts = [0.1, 1e300, 400_000.0, f64::NAN, f64::INFINITY].map(number);
    assert_eq!(texts, ["0.1", "1e300", "400000.0", "NaN", "NaN"]);
}
