//! What a reader does with charts: zooms, looks along, saves and copies.

use std::path::Path;

use serde_json::{Value, json};

use super::command::Bench;
use super::{browser, drawn_as_told, imported, kept, page, quiet};

#[test]
fn rows_of_fewer_slices_go_to_the_end_in_the_colours_of_every_rendering() {
    let Some(browser) = browser() else { return };
    let bench = Bench::default();
    let mut document: Value =
        serde_json::from_slice(&std::fs::read(kept("smallfiles-filesystems")).unwrap()).unwrap();
    for measurement in document["measurements"].as_array_mut().unwrap().iter_mut().step_by(3) {
        measurement["slices_ns"].as_array_mut().unwrap().truncate(7);
    }
    let document = bench.write("fewer.json", document.to_string());
    let id = imported(&bench, &document);
    browser.prefer("light");
    browser.open(&page(&bench, &[&id]));
    drawn_as_told(&browser, "fewer slices");
    let shades = "const place = places.find(({ data }) => data[0].type === 'heatmap');
        const { colorscale, cmin, cmax } = place.layout.coloraxis;
        const { scale, range } = stateOf(place).figure.shade;
        const same = wholeRange({ scale, range });
        return [colorscale[0][1], colorscale[7][1], cmin === same[0] && cmax === same[1], place.closest('figure').id];";
    let light = browser.script(shades, json!([]));
    assert_eq!(
        (&light[0], &light[1], &light[2]),
        (&json!("#edf8b1"), &json!("#081d58"), &json!(true))
    );
    let folder = bench.beside("pictures/");
    bench.run(["export", &id, "--format", "svg", "-o", folder.to_str().unwrap()]);
    let name = format!("{}.svg", light[3].as_str().unwrap());
    let picture = std::fs::read_to_string(folder.join(name)).unwrap();
    assert!(picture.contains("#edf8b1") && picture.contains("#081d58"), "other colours");
    browser.prefer("dark");
    browser.wait("places.every((place) => place.layout.paper_bgcolor === PAPER.dark.ground)");
    let dark = browser.script(shades, json!([]));
    assert_eq!((&dark[0], &dark[1]), (&light[1], &light[0]), "much is lost in the dark");
    browser.prefer("light");
}

/// Three runs of one job, a day apart.
fn three_days(bench: &Bench) -> Vec<String> {
    let document = std::fs::read_to_string(kept("smallfiles")).unwrap();
    let id = serde_json::from_str::<Value>(&document).unwrap()["run"]["id"].clone();
    let day = |(at, day): (usize, &str)| {
        let document = document
            .replace(id.as_str().unwrap(), &format!("day{at}2222"))
            .replace("2026-11-21T08", day);
        imported(bench, &bench.write("day.json", document))
    };
    ["2026-11-19T08", "2026-11-20T08", "2026-11-21T08"]
        .iter()
        .copied()
        .enumerate()
        .map(day)
        .collect()
}

#[test]
fn however_a_chart_is_zoomed_its_ticks_tell_places_apart_and_its_ends_are_reached() {
    let Some(browser) = browser() else { return };
    let bench = Bench::default();
    let mut pages = vec![three_days(&bench)];
    pages.extend(
        ["fullness", "smallfiles-filesystems"].map(|one| vec![imported(&bench, &kept(one))]),
    );
    for runs in pages {
        let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
        let path = page(&bench, &runs);
        browser.open(&path);
        browser.script("drawAll()", json!([]));
        browser.script(ZOOMED, json!([]));
        browser.wait("window.zoomed");
        let faults = browser.script("return window.zoomed", json!([]));
        assert_eq!(faults, json!([]), "{runs:?}");
        quiet(&browser, "zoomed", &path);
    }
    let ticks = "const log = (quantity, range) => ticks({ quantity, scale: 'log' }, range, 8).ticktext;
        return [log('one-in', [0.294, 0.308]), log('one-in', [4.9999, 5.0001]), log('count', [-1e9, 1e9]),
            ticks({ quantity: 'date', scale: 'linear' }, [-1e14, 1e14], 8).ticktext,
            ticks({ quantity: 'date', scale: 'linear' }, [1.7e9, 1.7e9 + 30], 8).ticktext,
            ticks({ quantity: 'count', scale: 'linear', whole: true }, [3.1, 5.2], 8).ticktext];";
    let ticks = browser.script(ticks, json!([]));
    for one in ticks.as_array().unwrap() {
        let mut texts: Vec<_> = one.as_array().unwrap().iter().map(Value::to_string).collect();
        let count = texts.len();
        texts.sort();
        texts.dedup();
        assert!(count == texts.len() && (2..=12).contains(&count), "{ticks}");
    }
    assert_eq!(ticks[5], json!(["4", "5"]));
}

/// Zooms a chart of each kind as far as it goes, in and out and aside, and tells what is wrong then.
const ZOOMED: &str = "
    const faults = [];
    const rest = () => new Promise((done) => setTimeout(done, 20));
    const near = (a, b, [first, last]) => Math.abs(a - b) <= 1e-6 * (last - first);
    const look = async (place, name) => {
        await rest();
        const { figure, whole } = stateOf(place);
        for (const which of ['x', 'y']) {
            const { range, tickvals, ticktext } = place.layout[`${which}axis`];
            const fault = (text) => faults.push(`${figure.key}, ${which}, ${name}: ${text} ${range} ${ticktext}`);
            const [first, last] = whole[which];
            const free = (last - first) * 1e-6;
            if (range[0] < first - free || range[1] > last + free) fault('beyond the whole');
            const at = figure[which].scale === 'log' ? tickvals.map(Math.log10) : tickvals;
            const seen = ticktext.filter((_, n) => at[n] >= range[0] && at[n] <= range[1]);
            if (figure[which].scale === 'named') continue;
            if (seen.length < 1 || new Set(ticktext).size < ticktext.length) fault('ticks');
            if (figure[which].whole && tickvals.some((tick) => !Number.isInteger(tick))) fault('between counts');
        }
        return stateOf(place).ranges;
    };
    (async () => {
        const kinds = new Set();
        for (const place of places) {
            const { figure, whole } = stateOf(place);
            const [kind] = figure.key.split('-');
            if (kinds.has(kind)) continue;
            kinds.add(kind);
            zoom(place, 1e9);
            await look(place, 'far');
            for (const times of [0.5, 0.01, 1e-9]) {
                zoom(place, times);
                await look(place, `near by ${times}`);
            }
            reset(place);
            zoom(place, 0.3);
            const press = (name) => place.closest('figure').querySelector(`button[aria-label^='${name}:']`)?.click();
            for (const [name, which, end] of [['Left', 'x', 0], ['Right', 'x', 1], ['Down', 'y', 0], ['Up', 'y', 1]]) {
                for (let times = 0; times < 6; times += 1) { press(name); await Promise.resolve(); }
                const range = (await look(place, name))[which];
                if (!near(range[end], whole[which][end], whole[which])) faults.push(`${figure.key}: ${name} ends at ${range}`);
            }
            reset(place);
            await rest();
        }
        window.zoomed = faults;
    })();";

#[test]
fn names_that_plotly_would_read_as_its_own_stay_as_they_are_in_a_saved_chart() {
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
        return Plotly.toImage(picture(places[0], { width: 1200, height: 700 }), { format: 'svg' }).then((address) => {
            const svg = decodeURIComponent(address.slice(address.indexOf(',') + 1));
            const read = new DOMParser().parseFromString(svg, 'image/svg+xml');
            return [text(read.querySelectorAll('.legendtext')), text(document.querySelectorAll('figure .legend .name'))];
        });";
    let saved = browser.script(saved, json!([]));
    assert_eq!(saved[0], json!(names), "the legend of the file");
    for name in names {
        assert!(saved[1].as_array().unwrap().contains(&json!(name)), "{name}: {saved}");
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
            return [saved[0], saved[1].slice(0, 15), image.width, image.height, new Set(pixels).size > 20];
        });";
    let seen = browser.script(seen, json!([]));
    let key = browser.script("return FIGURES[0].key", json!([]));
    let name = format!("{}.png", key.as_str().unwrap());
    assert_eq!(seen, json!([name, "data:image/png;", 2400, 1400, true]));

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
