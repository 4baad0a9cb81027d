//! What a reader does with charts: zooms, looks along, saves and copies.

use std::fs::File;
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use super::command::Bench;
use super::{browser, imported, kept, page, quiet};

/// Three runs of one job, a day apart.
fn three_days(bench: &Bench) -> Vec<String> {
    let file = File::open(kept("smallfiles")).unwrap();
    let document = std::io::read_to_string(GzDecoder::new(file)).unwrap();
    let run = serde_json::from_str::<Value>(&document).unwrap()["run"].clone();
    let [id, began] = ["id", "started"].map(|key| run[key].as_str().unwrap());
    let day = |(at, day): (usize, &str)| {
        let document =
            document.replace(id, &format!("day{at}2222")).replace(&began[..day.len()], day);
        imported(bench, &bench.write("day.json", document))
    };
    ["2026-11-19", "2026-11-20", "2026-11-21"].iter().copied().enumerate().map(day).collect()
}

#[test]
fn however_a_chart_is_zoomed_its_ticks_are_measured_places_and_its_ends_are_reached() {
    let Some(browser) = browser() else { return };
    let bench = Bench::default();
    let mut pages = vec![three_days(&bench)];
    pages.extend(["fullness", "directory"].map(|one| vec![imported(&bench, &kept(one))]));
    for runs in pages {
        let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
        let path = page(&bench, &runs);
        browser.open(&path);
        for width in [1600, 400] {
            browser.resize(width, 900);
            let faults = browser.script(ZOOMED, json!([]));
            assert_eq!(faults, json!([]), "{runs:?} at {width}");
        }
        quiet(&browser, "zoomed", &path);
    }
}

/// Zooms every chart as far as it goes, in and out and aside, and returns what is wrong then.
const ZOOMED: &str = "
    const faults = charts.some(({ zoomable }) => zoomable) ? [] : ['no chart can be zoomed'];
    for (const chart of charts.filter(({ zoomable }) => zoomable)) {
        const look = (name) => {
            const fault = (text) => faults.push(`${chart.key}, ${name}: ${text}`);
            const [from, to] = chart.view;
            if (!(from >= 0 && to <= 1 && to > from)) fault(`${from} to ${to}`);
            const { svg, left, right } = chart.seen;
            const ticks = [...svg.querySelectorAll('.ticks-x text')];
            if (new Set(ticks.map((one) => one.textContent)).size < ticks.length) fault('equal ticks');
            for (const tick of ticks) {
                const point = chart.points.find(({ row }) => chart.row(row)[1] === tick.textContent);
                const x = Number(tick.getAttribute('x'));
                if (x < left - 1 || x > right + 1) fault(`a tick at ${x}`);
                if (to - from < 1 && !point) fault(`no point at ${tick.textContent}`);
            }
            if (svg.querySelector('.data').outerHTML.includes('NaN')) fault('no number');
        };
        chart.zoom(1e9);
        look('far');
        for (const times of [0.5, 0.01, 1e-9]) {
            chart.zoom(times);
            look(`near by ${times}`);
        }
        chart.show(0, 1);
        chart.zoom(0.3);
        for (const [name, aside, end] of [['left', -0.5, 0], ['right', 0.5, 1]]) {
            for (let times = 0; times < 6; times += 1) chart.zoom(1, aside);
            look(name);
            if (Math.abs(chart.view[end] - end) > 1e-9) faults.push(`${chart.key}: ${name} ends at ${chart.view}`);
        }
        chart.show(0, 1);
    }
    return faults;";

#[test]
fn a_part_of_the_x_axis_is_chosen_with_the_pointer() {
    let Some(browser) = browser() else { return };
    let bench = Bench::default();
    let id = imported(&bench, &kept("fullness"));
    let path = page(&bench, &[&id]);
    browser.resize(1600, 1000);
    browser.open(&path);
    let box_ = browser.script(
        "const chart = charts.find(({ zoomable }) => zoomable);
         chart.place.scrollIntoView({ block: 'center' });
         const { left, right, top, height } = chart.place.querySelector('.wide').getBoundingClientRect();
         return [left, right, top + height / 2];",
        json!([]),
    );
    let [left, right, y] = [0, 1, 2].map(|at| box_[at].as_f64().unwrap());
    let at = |share: f64| (left + (right - left) * share, y);
    let mouse = |kind: &str, (x, y): (f64, f64)| {
        let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1 });
        browser.command("Input.dispatchMouseEvent", event);
    };
    mouse("mousePressed", at(0.4));
    mouse("mouseMoved", at(0.5));
    mouse("mouseReleased", at(0.6));
    let view = browser.script("return charts.find(({ zoomable }) => zoomable).view", json!([]));
    let [from, to] = [0, 1].map(|at| view[at].as_f64().unwrap());
    assert!(from > 0.2 && to < 0.8 && to - from < 0.4, "{view}");
    quiet(&browser, "chosen", &path);
}

#[test]
fn names_that_look_like_markup_stay_as_they_are_in_a_saved_chart() {
    let Some(browser) = browser() else { return };
    let bench = Bench::default();
    let names = ["M%{meta}", "<b>bold</b>", "&lt;$x^2$"];
    let variant =
        |name: &str| format!("[[variant]]\nname = \"{name}\"\ntree = {{ files = 200 }}\n");
    let variants: String = names.map(variant).concat();
    let job = format!(
        "name = \"x\"\nengine = \"sim\"\nrepeats = 2\n[sim]\nmetadata = \"20us\"\n{variants}\
         [[phase]]\noperation = \"create\"\n"
    );
    let job = bench.write("job.toml", job);
    let document = bench.document([Path::new("run"), &job]);
    let path = page(&bench, &[document["run"]["id"].as_str().unwrap()]);
    browser.open(&path);
    let saved = "const text = (of) => [...of].map((one) => one.textContent);
        return charts[1].picture().text().then((svg) => {
            const read = new DOMParser().parseFromString(svg, 'image/svg+xml');
            return [text(read.querySelectorAll('.words text')), text(document.querySelectorAll('figure .legend .name'))];
        });";
    let saved = browser.script(saved, json!([]));
    for name in names {
        for texts in [&saved[0], &saved[1]] {
            assert!(texts.as_array().unwrap().contains(&json!(name)), "{name}: {saved}");
        }
    }
    quiet(&browser, "names", &path);
}

#[test]
fn a_chart_is_saved_as_a_picture_and_a_command_is_copied() {
    let Some(browser) = browser() else { return };
    let bench = Bench::default();
    let id = imported(&bench, &kept("smallfiles"));
    let path = page(&bench, &[&id]);
    browser.open(&path);
    let save = "HTMLAnchorElement.prototype.click = function () { window.saved = [this.download, this.href]; };
        document.querySelector(\"button[aria-label^='Save PNG']\").click();";
    browser.script(save, json!([]));
    browser.wait("window.saved");
    let seen = "const image = new Image();
        image.src = saved[1];
        return image.decode().then(() => {
            const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
            const pen = canvas.getContext('2d');
            pen.drawImage(image, 0, 0);
            const pixels = new Uint32Array(pen.getImageData(0, 0, image.width, image.height).data.buffer);
            return [saved[0], saved[1].slice(0, 5), image.width, image.height > 600, new Set(pixels).size > 20];
        });";
    let seen = browser.script(seen, json!([]));
    let key = browser.script("return charts[0].key", json!([]));
    let name = format!("{}.png", key.as_str().unwrap());
    assert_eq!(seen, json!([name, "blob:", 1520, true, true]));

    let press = "window.copied = [];
        const [clipboard, command] = arguments;
        navigator.clipboard.writeText = async (text) => {
            if (!clipboard) throw new Error('not allowed');
            copied.push(text);
        };
        document.execCommand = (name) => command && copied.push(String(getSelection())) > 0;
        const button = document.querySelector('button.copy');
        button.textContent = 'Copy';
        button.click();
        return button.parentElement.querySelector('pre').textContent;";
    let covers = "const rect = (name) => document.querySelector(`.copied ${name}`).getBoundingClientRect();
        const [button, pre] = [rect('button'), rect('pre')];
        return button.left < pre.right && button.bottom > pre.top && button.right > pre.left && button.top < pre.bottom;";
    assert_eq!(browser.script(covers, json!([])), json!(false), "the button covers the command");
    for (clipboard, command, told) in
        [(true, false, "Copied"), (false, true, "Copied"), (false, false, "Press Ctrl+C")]
    {
        let text = browser.script(press, json!([clipboard, command]));
        browser.wait(&format!("document.querySelector('button.copy').textContent === '{told}'"));
        let copied = browser.script("return [copied, String(getSelection())]", json!([]));
        let expected = if clipboard || command { json!([text]) } else { json!([]) };
        assert_eq!(copied[0], expected, "{told}");
        assert!(clipboard || copied[1] == text, "it is not selected: {copied}");
    }
    quiet(&browser, "saved", &path);
}
