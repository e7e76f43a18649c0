package envelope

import (
	"errors"
	"fmt"
	"strings"
)

// The lines around what the command writes. Within them, each part begins with its marker.
const (
	begin = "<!-- written by make envelope: begin -->"
	end   = "<!-- written by make envelope: end -->"
)

func (p *Part) marker() string { return "<!-- part " + p.Name + " -->" }

// Replace replaces one part in the section of a page, or adds it in the order of Parts.
func Replace(page string, p *Part, text string) (string, error) {
	before, section, after, err := cut(page)
	if err != nil {
		return "", err
	}
	intro, texts := split(section)
	texts[p.Name] = text
	out := []string{strings.TrimSpace(intro)}
	for _, part := range Parts {
		if have := strings.TrimSpace(texts[part.Name]); have != "" {
			out = append(out, have)
		}
	}
	return before + begin + "\n" + strings.TrimLeft(strings.Join(out, "\n\n"), "\n") + "\n" + end + after, nil
}

// cut divides a page at its section.
func cut(page string) (before, section, after string, err error) {
	before, rest, ok := strings.Cut(page, begin)
	section, after, closed := strings.Cut(rest, end)
	switch {
	case !ok || !closed:
		err = fmt.Errorf("no lines %q and %q", begin, end)
	case strings.Contains(after, begin) || strings.Contains(after, end) || strings.Contains(section, begin):
		err = fmt.Errorf("more than one line %q or %q", begin, end)
	}
	return before, section, after, err
}

// split returns the text before the first part, and that of each part. The text of an unknown part is dropped.
func split(section string) (intro string, texts map[string]string) {
	texts = map[string]string{}
	name := ""
	for line := range strings.Lines(section) {
		if fields := strings.Fields(line); len(fields) == 4 && fields[0] == "<!--" && fields[1] == "part" {
			name = fields[2]
		}
		if name == "" {
			intro += line
		} else {
			texts[name] += line
		}
	}
	return intro, texts
}

// Check returns what is wrong with the section of a page: parts that are missing, that the command does not have, or
// writes in another form, or in another order. The figures may be any. A section without any part is correct.
func Check(page string) error {
	_, section, _, err := cut(page)
	if err != nil {
		return err
	}
	var errs []error
	intro, texts := split(section)
	if strings.TrimSpace(intro) != "" {
		errs = append(errs, fmt.Errorf("%q is before the first part", strings.TrimSpace(intro)))
	}
	if len(texts) == 0 { // nothing was measured yet
		return errors.Join(errs...)
	}
	last := -1
	for _, p := range Parts {
		at := strings.Index(section, p.marker())
		if at >= 0 && at < last {
			errs = append(errs, fmt.Errorf("part %s is too early", p.Name))
		}
		last = max(last, at)
		text, is := texts[p.Name]
		delete(texts, p.Name)
		if !is {
			errs = append(errs, fmt.Errorf("part %s is missing", p.Name))
			continue
		}
		if err := p.check(text); err != nil {
			errs = append(errs, fmt.Errorf("part %s: %w", p.Name, err))
		}
	}
	for name := range texts {
		errs = append(errs, fmt.Errorf("part %s is none of the command's", name))
	}
	return errors.Join(errs...)
}

// check compares the form of a part with that of the text that would be written now.
func (p *Part) check(text string) error {
	if !strings.Contains(text, "\nMeasured ") {
		return errors.New("does not say when it was measured")
	}
	var columns []Column
	for _, size := range p.Sizes {
		columns = append(columns, Column{Size: size, Values: make([]float64, len(p.Costs))})
	}
	got, want := form(text), form(p.Write("", columns))
	for i := range max(len(got), len(want)) {
		var g, w string
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			return fmt.Errorf("has %q where make envelope writes %q", g, w)
		}
	}
	return nil
}

// form returns the lines of a part without figures: of a row of the table what it is about and the number of its cells,
// and of a sentence the cost. The line about the measurement must exist, with any text.
func form(text string) []string {
	var out []string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line = strings.TrimRight(line, "\n")
		cells := strings.Split(line, " | ")
		cost, _, formula := strings.Cut(line, " ≈ ")
		switch {
		case len(cells) > 1 && !strings.HasPrefix(line, "| ---") && !headed(cells[0]):
			line = fmt.Sprintf("%s | %d values", cells[0], len(cells)-1)
		case formula:
			line = cost
		case line == "" || strings.HasPrefix(line, "Measured "):
			continue
		}
		out = append(out, line)
	}
	return out
}

// headed reports whether a cell is the first of a table.
func headed(cell string) bool {
	for _, p := range Parts {
		if cell == "| "+p.head() {
			return true
		}
	}
	return false
}
