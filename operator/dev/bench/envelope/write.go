package envelope

import (
	"math"
	"slices"
	"strings"
)

// Write returns a part as Markdown. measured is a sentence with the time, the machine and the versions.
func (p *Part) Write(measured string, columns []Column) string {
	var b strings.Builder
	b.WriteString(p.marker() + "\n### " + p.Title + "\n\n" + p.About + "\n" + measured + "\n\n")
	rows := [][]string{append([]string{p.head()}, p.heads(columns)...)}
	rows = append(rows, slices.Repeat([]string{"---"}, len(columns)+1))
	var sentences []string
	for i, cost := range p.Costs {
		f, fitted := p.fit(columns, i)
		off := make([]float64, len(columns))
		if fitted {
			off = marks(columns, i, f)
			sentences = append(sentences, "- "+p.sentence(cost, f))
		}
		row := []string{cost.Title}
		for k, c := range columns {
			row = append(row, cost.Unit.write(c.Values[i])+mark(off[k]))
		}
		rows = append(rows, row)
	}
	for _, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	if len(sentences) > 0 {
		b.WriteString("\n" + strings.Join(sentences, "\n") + "\n")
	}
	return b.String()
}

// mark returns a note that a cost differs from its formula by a factor; empty if that is zero.
func mark(factor float64) string {
	switch {
	case factor == 0:
		return ""
	case math.IsInf(factor, 1):
		return " (formula: 0)"
	default:
		return " (×" + digits(factor) + ")"
	}
}

// head returns the title of the first column: "monitors / rule objects".
func (p *Part) head() string {
	var out []string
	for _, k := range p.Keys {
		out = append(out, k.Title)
	}
	return strings.Join(out, " / ")
}

func (p *Part) heads(columns []Column) []string {
	var out []string
	for _, c := range columns {
		out = append(out, c.Size.String())
	}
	return out
}

// String returns "10,000 / 1,000 / 1".
func (s Size) String() string {
	var out []string
	for _, n := range s {
		out = append(out, thousands(n))
	}
	return strings.Join(out, " / ")
}
