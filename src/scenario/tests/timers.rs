//! The timers that can be fired are called what the cluster calls them, by which `fire` finds them.

use crate::cluster::actor::TimerKind;
use crate::scenario::ast::Timer;

#[test]
fn every_timer_that_can_be_fired_is_one_of_the_cluster() {
    let pairs = [
        (Timer::Session, TimerKind::Session),
        (Timer::Lag, TimerKind::Lag),
        (Timer::FetchWait, TimerKind::FetchWait),
        (Timer::Request, TimerKind::Request),
        (Timer::Retry, TimerKind::Retry),
        (Timer::Linger, TimerKind::Linger),
        (Timer::Heartbeat, TimerKind::Heartbeat),
        (Timer::Retention, TimerKind::Retention),
        (Timer::Cleaner, TimerKind::Cleaner),
        (Timer::Checkpoint, TimerKind::Checkpoint),
        (Timer::Flush, TimerKind::Flush),
        (Timer::Rebalance, TimerKind::Rebalance),
    ];
    assert_eq!(pairs.map(|(timer, _)| timer), Timer::ALL);
    for (timer, kind) in pairs {
        assert_eq!(timer.word(), kind.name());
    }
}
