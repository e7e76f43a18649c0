package insight

import (
	"slices"
	"strings"
)

// Limits of groups of problems.
const (
	maxGroupsShown = 50
	maxPlaces      = 20
)

// problems collects the problems of a response, and merges equal ones. Messages are those that the caller may see, so
// groups do not reveal which hidden messages are equal.
type problems struct {
	total int
	// By urgency and cause: the first problems, and the groups in the order of their first problem.
	first   [][]Attention
	buckets [][]*AttentionGroup
	at      map[Problem]*AttentionGroup
}

func newProblems() *problems {
	n := 2 * len(causes)
	return &problems{first: make([][]Attention, n), buckets: make([][]*AttentionGroup, n), at: map[Problem]*AttentionGroup{}}
}

// bucket returns the position of a problem in the order of urgency.
func bucket(p *Problem) int { return rank(p.Urgency)*len(causes) + slices.Index(causes, p.Cause) }

// equal returns what equal problems have in common: without indexes in lists of fields, and without
// the number of dropped targets.
func (p Problem) equal() Problem {
	p.Message = withoutIndexes(p.Message)
	if intro, rest, found := strings.Cut(p.Message, ": "); found && p.Cause == NoTargets {
		if less := strings.TrimLeft(rest, "0123456789"); less != rest {
			p.Message = intro + ": they" + less
		}
	}
	return p
}

// withoutIndexes replaces the numbers in a[0].b by "…".
func withoutIndexes(s string) string {
	var out strings.Builder
	for {
		at := strings.IndexByte(s, '[')
		if at < 0 {
			break
		}
		out.WriteString(s[:at+1])
		s = s[at+1:]
		if less := strings.TrimLeft(s, "0123456789"); less != s && strings.HasPrefix(less, "]") {
			out.WriteString("…")
			s = less
		}
	}
	out.WriteString(s)
	return out.String()
}

// add adds a problem. Beyond the limits for its cause it is only counted.
func (p *problems) add(a *Attention) {
	p.total++
	at := bucket(&a.Problem)
	if len(p.first[at]) < maxAttention {
		p.first[at] = append(p.first[at], *a)
	}
	key := a.equal()
	of, known := p.at[key]
	if !known {
		if len(p.buckets[at]) == maxGroupsShown {
			return
		}
		of = &AttentionGroup{Problem: a.Problem}
		p.at[key] = of
		p.buckets[at] = append(p.buckets[at], of)
	}
	if of.Message != a.Message {
		of.Problem = key
	}
	if of.Total++; len(of.Of) < maxPlaces {
		of.Of = append(of.Of, Place{a.Workload, a.Object})
	}
}

// attention returns the first problems, the most urgent first.
func (p *problems) attention() []Attention {
	out := append([]Attention{}, slices.Concat(p.first...)...)
	return out[:min(len(out), maxAttention)]
}

// groups returns the groups, the most urgent first and, for the same cause, the largest first.
func (p *problems) groups() []AttentionGroup {
	out := []AttentionGroup{}
	for _, all := range p.buckets {
		slices.SortStableFunc(all, func(a, b *AttentionGroup) int { return b.Total - a.Total })
		for _, of := range all {
			if len(out) < maxGroupsShown {
				out = append(out, *of)
			}
		}
	}
	return out
}
