package budget

import (
	"fmt"
	"time"
)

// CheckInterval returns an error for an interval that is shorter than [IntervalMillis] and not 0, which means the default.
func CheckInterval(d time.Duration) error {
	if d <= 0 || d >= IntervalMillis*time.Millisecond {
		return nil
	}
	return fmt.Errorf("%s is shorter than %d ms, the least interval, because the server would do little else: did you mean %ds?", d, IntervalMillis, d.Milliseconds())
}
