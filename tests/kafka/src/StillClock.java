import org.apache.kafka.common.utils.Time;

/** A clock that stands still until somebody sets it, in milliseconds. */
final class StillClock implements Time {
    long now;

    StillClock(long now) {
        this.now = now;
    }

    @Override public long milliseconds() {
        return now;
    }

    @Override public long nanoseconds() {
        return now * 1_000_000;
    }

    @Override public void sleep(long ms) {
    }
}
