use super::*;
use crate::base::failure::garbles;
use crate::report::export::tests::made;

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
        let marks = ['`', '@', '$'];
        let columns = ["$1", "$2", "$3", "$4", "$5", "$7"];
        let code = columns.iter().fold(code, |code, column| code.replace(column, ""));
        assert!(!code.contains(marks), "{code}");
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
fn the_notes_of_a_chart_stand_in_its_picture_and_in_its_data() {
    let charts = made::all();
    let noted: Vec<_> = charts.iter().filter(|chart| !chart.all_notes().is_empty()).collect();
    assert!(!noted.is_empty());
    for chart in noted {
        let [script, data] = texts(chart);
        let (quoted, _) = parts(&script.text);
        for note in chart.all_notes() {
            let seen = shown(shorten(&note, TITLE_COLUMNS));
            assert!(quoted.contains(&seen), "{note} in {}", script.text);
            assert!(
                data.text.contains(&format!("# {}\n", shown(&note))),
                "{note} in {}",
                data.text
            );
        }
    }
}

#[test]
fn a_script_reads_every_block_of_its_data() {
    for chart in made::all() {
        let [script, data] = texts(&chart);
        let blocks = data
            .text
            .split("\n\n\n")
            .filter(|block| block.contains("# place") || block.contains("# left"));
        for at in 0..blocks.count() {
            let index = format!("index {at} using");
            assert!(script.text.contains(&index), "{index} in {}", script.text);
        }
    }
}

#[test]
fn a_share_beside_a_tick_keeps_its_sign() {
    let [script, _] = texts(&made::course());
    assert!(script.text.contains("'80%%' 80.0"), "{}", script.text);
}

#[test]
fn names_beyond_the_colours_have_other_bars() {
    let names: Vec<String> = (0..9).map(|at| format!("v{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let [script, _] = texts(&made::bars(&names, &["create"]));
    assert_eq!(script.text.matches("fillstyle solid 0.85").count(), 8);
    assert_eq!(script.text.matches("fillstyle pattern 4 border").count(), 1);
}

#[test]
fn a_name_that_is_a_command_stays_a_name() {
    assert_eq!(quoted("it's `id` \"x\"\n\\"), "'it''s `id` \"x\"\\n\\'");
    assert_eq!(tick("50%"), "'50%%'");
}

#[test]
fn numbers_keep_all_their_figures() {
    let texts = [0.1, 1e300, 400_000.0, f64::NAN, f64::INFINITY].map(number);
    assert_eq!(texts, ["0.1", "1e300", "400000.0", "NaN", "NaN"]);
}
