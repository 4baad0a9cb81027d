//! A headless Chromium, driven through chromedriver by the W3C WebDriver protocol
//! (<https://www.w3.org/TR/webdriver2/>), with what little HTTP that takes.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "a test panics when it cannot continue"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// How long a browser may take for one answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with one window; dropping it ends it.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Browser {
    /// Starts one; it must start where it is installed.
    ///
    /// # Errors
    /// What is missing.
    pub fn start() -> Result<Self, String> {
        let chromium = Command::new("chromium").arg("--version").stdout(Stdio::null()).status();
        chromium.map_err(|error| format!("chromium: {error}"))?;
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("chromedriver: {error}"))?;
        let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = |line: String| {
            line.split("successfully on port ").nth(1)?.trim_end_matches('.').parse().ok()
        };
        let port = lines.map_while(Result::ok).find_map(port);
        let mut browser = Self { driver, port: port.unwrap_or(0), session: String::new() };
        let port = port.expect("chromedriver says where it listens");
        let answer = http(port, "POST", "/session", Some(&capabilities()));
        let session = answer["value"]["sessionId"].as_str();
        browser.session = session.unwrap_or_else(|| panic!("{}", said(&answer))).into();
        Ok(browser)
    }

    /// Opens a file and waits until it is there.
    pub fn open(&self, path: &Path) {
        let path: String = path.to_str().unwrap().replace('%', "%25").replace(' ', "%20");
        self.post("url", &json!({ "url": format!("file://{path}") }));
    }

    /// What a script returns; its arguments are `arguments[0]` and so on.
    #[track_caller]
    pub fn script(&self, script: &str, arguments: Value) -> Value {
        self.post("execute/sync", &json!({ "script": script, "args": arguments }))
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub fn wait(&self, expression: &str) {
        for _ in 0..400 {
            if self.script(&format!("return Boolean({expression})"), json!([])) == json!(true) {
                return;
            }
            std::thread::sleep(Duration::from_millis(25));
        }
        panic!("it does not come true: {expression}");
    }

    /// A command of Chromium's own protocol.
    pub fn command(&self, command: &str, parameters: Value) -> Value {
        self.post("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// Sets the width and height of the window in pixels, also below the least of a real one.
    pub fn resize(&self, width: u32, height: u32) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.command("Emulation.setDeviceMetricsOverride", size);
    }

    /// What the reader is taken to prefer: `light` or `dark`.
    pub fn prefer(&self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.command("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Presses a key and lets it go.
    pub fn press(&self, key: char) {
        let (down, up) =
            (json!({ "type": "keyDown", "value": key }), json!({ "type": "keyUp", "value": key }));
        let keys = json!([{ "type": "key", "id": "keyboard", "actions": [down, up] }]);
        self.post("actions", &json!({ "actions": keys }));
    }

    /// What came to the console since the last time.
    pub fn console(&self) -> Vec<String> {
        let entries = self.post("se/log", &json!({ "type": "browser" }));
        entries.as_array().unwrap().iter().map(|entry| entry["message"].to_string()).collect()
    }

    /// Addresses that were asked for since the last time, but for what a page holds itself.
    pub fn requests(&self) -> Vec<String> {
        let entries = self.post("se/log", &json!({ "type": "performance" }));
        let address = |entry: &Value| {
            let event: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
            let event = &event["message"];
            let asked = event["method"] == "Network.requestWillBeSent";
            let address = event["params"]["request"]["url"].as_str()?.to_string();
            let own = address.starts_with("data:") || address.starts_with("blob:");
            (asked && !own).then_some(address)
        };
        entries.as_array().unwrap().iter().filter_map(address).collect()
    }

    /// Keeps a picture of the whole page where `BOATLOAD_SCREENSHOTS` says, to be looked at.
    pub fn picture(&self, name: &str) {
        let Some(folder) = std::env::var_os("BOATLOAD_SCREENSHOTS") else { return };
        let parameters = json!({ "format": "png", "captureBeyondViewport": true });
        let bytes = STANDARD
            .decode(self.command("Page.captureScreenshot", parameters)["data"].as_str().unwrap());
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), bytes.unwrap()).unwrap();
    }

    #[track_caller]
    fn post(&self, command: &str, body: &Value) -> Value {
        let path = format!("/session/{}/{command}", self.session);
        let answer = http(self.port, "POST", &path, Some(body));
        assert!(answer["value"]["error"].is_null(), "{command}: {}", said(&answer));
        answer["value"].clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            http(self.port, "DELETE", &format!("/session/{}", self.session), None);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn capabilities() -> Value {
    let arguments = [
        "--headless=new",
        // Root may not have a sandbox.
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1600,1000",
    ];
    json!({ "capabilities": { "alwaysMatch": {
        "goog:chromeOptions": { "args": arguments },
        "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        "unhandledPromptBehavior": "ignore",
    } } })
}

fn said(answer: &Value) -> String {
    answer["value"]["message"]
        .as_str()
        .unwrap_or("no answer")
        .lines()
        .next()
        .unwrap_or_default()
        .into()
}

/// One request of its own; null if there is no answer.
fn http(port: u16, method: &str, path: &str, body: Option<&Value>) -> Value {
    let exchange = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let body = body.map(Value::to_string).unwrap_or_default();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )?;
        let mut reader = BufReader::new(stream);
        let (mut line, mut length) = (String::new(), 0);
        while reader.read_line(&mut line)? > 2 {
            let lower = line.to_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            line.clear();
        }
        let mut bytes = vec![0; length];
        reader.read_exact(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    exchange().ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}
