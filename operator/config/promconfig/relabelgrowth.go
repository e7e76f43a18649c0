package promconfig

import (
	"cmp"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

// growthUnit is the size of the labels of a target before the steps, in bytes. Each label counts as one unit, because
// any of them may have all of it.
const growthUnit = 4 << 10

// labelSize is the assumed size of a label, to which the template of a labelmap adds its own characters.
const labelSize = 64

// checkGrowth limits the size to which steps can make the labels of a target. Prometheus has no limit: forty steps with
// the replacement $1$1, or with labelmap, exhaust any memory and stop it, for all namespaces. steps must be valid.
//
// Errors: "[index]: ...".
func checkGrowth(steps []v1.RelabelConfig) error {
	if growsLittle(steps) {
		return nil
	}
	g := newGrowth()
	for i := range steps {
		joined := g.joined(&steps[i])
		if g.add(&steps[i]); max(g.total, joined) > budget.LabelGrowth {
			return faults.At(faults.Index("", i), fmt.Errorf("the steps up to this one can make the labels of a target more than %d times as large, "+
				"which no server has memory for: write each label to a replacement once, use fewer sourceLabels, and fewer steps with labelmap, with | in their regex", budget.LabelGrowth))
		}
	}
	return nil
}

// growsLittle reports whether a rough bound is below the limit, which it is for all that people write.
func growsLittle(steps []v1.RelabelConfig) bool {
	value, total := 1, len(steps)+1
	for i := range steps {
		c := &steps[i]
		refs := strings.Count(c.TargetLabel+ptr.Deref(c.Replacement, defaultReplacement), "$")
		value *= max(1, len(c.SourceLabels)*max(1, refs)) + literal(c)/growthUnit
		if strings.EqualFold(c.Action, "labelmap") {
			total *= max(2, 1+refs) + literal(c)/labelSize
		}
		if value > budget.LabelGrowth || value*total > budget.LabelGrowth {
			return false
		}
	}
	return true
}

// literal returns the length of the text that a step adds to copied values.
func literal(c *v1.RelabelConfig) int {
	return len(ptr.Deref(c.Replacement, "")) + len(c.TargetLabel) + len(ptr.Deref(c.Separator, defaultSeparator))*len(c.SourceLabels)
}

// growth holds upper bounds of the sizes of labels, in units.
type growth struct {
	total   int            // all labels
	written map[string]int // labels that a step has written, by name
	made    map[string]int // labels with names that a step has made, by the text with which these begin
	largest int            // the largest label with a name that is not known

	// A labelmap whose replacement begins with a group makes labels of any name. Steps whose prefixes exclude each other
	// read each label once, because its name has at most one of the prefixes.
	prefixes []string // of these steps
	threads  int      // labels that they read, without those that they made
	renamed  int      // labels that they made
}

func newGrowth() *growth {
	return &growth{total: 1, written: map[string]int{}, made: map[string]int{}, largest: 1}
}

// add follows a step.
func (g *growth) add(c *v1.RelabelConfig) {
	switch strings.ToLower(c.Action) {
	case "", "replace", "lowercase", "uppercase":
		g.replace(c)
	case "labelmap":
		g.labelmap(c)
	}
}

// joined returns the size of the text of the source labels with separators, which exists while a step with any action is
// applied.
func (g *growth) joined(c *v1.RelabelConfig) int {
	out := len(ptr.Deref(c.Separator, defaultSeparator)) * len(c.SourceLabels) / growthUnit
	for _, name := range c.SourceLabels {
		out += g.size(string(name))
	}
	return out
}

// size returns the size of a label.
func (g *growth) size(name string) int { return max(g.largest, g.written[name]) }

func (g *growth) replace(c *v1.RelabelConfig) {
	text := 0
	for _, name := range c.SourceLabels {
		text += g.size(string(name))
	}
	parsed, template := regexOf(c), ptr.Deref(c.Replacement, defaultReplacement)
	size := regexcost.Copies(parsed, template)*text + literal(c)/growthUnit
	if begin, _, unknown := strings.Cut(c.TargetLabel, "$"); unknown {
		g.largest = max(g.largest, size)
		g.make(begin, size+regexcost.Copies(parsed, c.TargetLabel)*text)
		return
	}
	g.write(c.TargetLabel, size)
}

// write raises the size of a label. Labels of size 0 are left out, so that there are at most budget.LabelGrowth of them.
func (g *growth) write(name string, size int) {
	if more := size - g.written[name]; more > 0 {
		g.total += more
		g.written[name] = size
	}
}

// make adds labels whose names begin with a text.
func (g *growth) make(begin string, size int) {
	if size > 0 {
		g.made[begin] += size
		g.total += size
	}
}

// labelmap copies the labels whose names can match, which those that it makes are not yet among.
func (g *growth) labelmap(c *v1.RelabelConfig) {
	parsed, template := regexOf(c), ptr.Deref(c.Replacement, defaultReplacement)
	prefix := prefixOf(parsed)
	read, largest := 1, g.largest
	for name, size := range g.written {
		if strings.HasPrefix(name, prefix) {
			read, largest = read+size, max(largest, size)
		}
	}
	for begin, size := range g.made {
		if strings.HasPrefix(begin, prefix) || strings.HasPrefix(prefix, begin) {
			read += size
		}
	}
	begin, _, unknown := strings.Cut(template, "$")
	if !unknown {
		g.write(template, largest+literal(c)/growthUnit)
		return
	}
	g.largest = largest
	factor := max(1, regexcost.Copies(parsed, template)) + literal(c)/labelSize
	if begin == "" && factor == 1 && g.excludes(prefix) {
		g.prefixes = append(g.prefixes, prefix)
		g.threads += read
		g.renamed += g.threads
		g.total += g.threads
		return
	}
	g.make(begin, (read+g.renamed)*factor)
}

// excludes reports whether no label that an earlier step renamed by its prefix can have this one, too.
func (g *growth) excludes(prefix string) bool {
	return prefix != "" && !slices.ContainsFunc(g.prefixes, func(other string) bool {
		return strings.HasPrefix(other, prefix) || strings.HasPrefix(prefix, other)
	})
}

// regexOf parses the expression of a step.
func regexOf(c *v1.RelabelConfig) *syntax.Regexp {
	parsed, err := regexcost.Parse(cmp.Or(c.Regex, defaultRegex))
	if err != nil {
		return &syntax.Regexp{Op: syntax.OpNoMatch}
	}
	return parsed
}

// prefixOf returns a text with which all matches begin.
func prefixOf(re *syntax.Regexp) string {
	for re.Op == syntax.OpCapture || re.Op == syntax.OpConcat && len(re.Sub) > 0 {
		re = re.Sub[0]
	}
	if re.Op != syntax.OpLiteral || re.Flags&syntax.FoldCase != 0 {
		return ""
	}
	return string(re.Rune)
}
