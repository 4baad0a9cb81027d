//! A communicator of threads of one process, for tests.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use super::{Communicator, MessageError};

/// The messages on their way, by sender and receiver.
struct Mail {
    boxes: Mutex<Vec<VecDeque<Vec<u8>>>>,
    changed: Condvar,
    size: u32,
}

/// One of the threads.
pub struct ThreadCommunicator {
    rank: u32,
    mail: Arc<Mail>,
}

impl Mail {
    fn place(&self, from: u32, to: u32) -> usize {
        (from * self.size + to) as usize
    }
}

impl Communicator for ThreadCommunicator {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.mail.size
    }

    fn send(&self, to: u32, message: &[u8], _: Duration) -> Result<(), MessageError> {
        let place = self.mail.place(self.rank, to);
        self.mail.boxes.lock().unwrap()[place].push_back(message.to_vec());
        self.mail.changed.notify_all();
        Ok(())
    }

    fn receive(&self, from: u32, within: Duration) -> Result<Vec<u8>, MessageError> {
        let place = self.mail.place(from, self.rank);
        let boxes = self.mail.boxes.lock().unwrap();
        let empty = |boxes: &mut Vec<VecDeque<Vec<u8>>>| boxes[place].is_empty();
        let (mut boxes, _) = self.mail.changed.wait_timeout_while(boxes, within, empty).unwrap();
        boxes[place].pop_front().ok_or(MessageError::TimedOut)
    }
}

/// Runs something at each rank; what each gave, in their order.
pub fn with_ranks<T: Send>(size: u32, run: impl Fn(&ThreadCommunicator) -> T + Sync) -> Vec<T> {
    let boxes = Mutex::new(vec![VecDeque::new(); (size * size) as usize]);
    let mail = Arc::new(Mail { boxes, changed: Condvar::new(), size });
    std::thread::scope(|scope| {
        let run = &run;
        let start = |rank| {
            let communicator = ThreadCommunicator { rank, mail: Arc::clone(&mail) };
            scope.spawn(move || run(&communicator))
        };
        let threads: Vec<_> = (0..size).map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
