package feed

import "time"

// The rule for lists that shrink: a job, or all jobs of a shard together, that loses more than
// suspectPart of its targets and at least suspectTargets of them without a reason is held for
// holdFor; then the loss is real. Losses within memory count together.
const (
	suspectTargets = 10
	suspectPart    = 0.3
	holdFor        = 2 * time.Minute
	memory         = time.Minute
)

// suspicious reports whether the loss of some of the targets is suspicious.
func suspicious(before, lost int) bool {
	return lost >= suspectTargets && float64(lost) > suspectPart*float64(before)
}

// losses are the recent unexplained losses of targets of a job or a list.
type losses struct {
	n     int
	since time.Time
}

// add counts a loss and returns the sum of those within memory.
func (l *losses) add(now time.Time, n int) int {
	if now.Sub(l.since) > memory {
		*l = losses{since: now}
	}
	l.n += n
	return l.n
}

// Suspicion is a job whose targets are held: pods keep From targets of it until Until, unless they
// come back.
type Suspicion struct {
	Job      string    `json:"job"`
	From, To int       `json:"-"`
	Until    time.Time `json:"until"`
}
