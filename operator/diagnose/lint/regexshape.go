package lint

import (
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

// shape is a text that a regular expression matches, or the common prefix of several.
type shape struct {
	text  string
	whole bool // the text itself, nothing else
}

// maxShapes is the maximum number of shapes of an expression.
const maxShapes = 64

// anything is the shape of all texts.
var anything = []shape{{}}

// parsed returns an expression as Prometheus compiles it; nil if it is invalid.
func parsed(text string) *syntax.Regexp {
	if text == "" {
		text = "(.*)" // the default
	}
	re, err := regexcost.Parse("^(?s:" + text + ")$")
	if err != nil {
		return nil
	}
	return re
}

// shapesOf returns shapes of which every text that an expression matches has at least one.
func shapesOf(re *syntax.Regexp) []shape {
	if re == nil {
		return anything
	}
	var out []shape
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			return anything
		}
		return []shape{{string(re.Rune), true}}
	case syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine:
		return []shape{{"", true}}
	case syntax.OpCapture:
		return shapesOf(re.Sub[0])
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if out = append(out, shape{string(r), true}); len(out) > maxShapes {
					return anything
				}
			}
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			out = append(out, shapesOf(sub)...)
		}
	case syntax.OpQuest:
		out = append(shapesOf(re.Sub[0]), shape{"", true})
	case syntax.OpPlus:
		out = begun(shapesOf(re.Sub[0]))
	case syntax.OpConcat:
		out = []shape{{"", true}}
		for _, sub := range re.Sub {
			if out = then(out, shapesOf(sub)); len(out) > maxShapes {
				return anything
			}
		}
	default:
		return anything
	}
	if len(out) > maxShapes {
		return anything
	}
	return out
}

// begun returns shapes of texts that continue in any way.
func begun(all []shape) []shape {
	out := slices.Clone(all)
	for i := range out {
		out[i].whole = false
	}
	return out
}

// then returns the shapes of texts that are composed of two.
func then(first, second []shape) (out []shape) {
	for _, a := range first {
		if !a.whole {
			out = append(out, a)
			continue
		}
		for _, b := range second {
			out = append(out, shape{a.text + b.text, b.whole})
		}
		if len(out) > maxShapes {
			break
		}
	}
	return out
}

// apart reports whether no text has a shape of both lists.
func apart(a, b []shape) bool {
	for _, x := range a {
		for _, y := range b {
			if x.meets(y) {
				return false
			}
		}
	}
	return true
}

// meets reports whether a text can have both shapes.
func (s shape) meets(other shape) bool {
	switch {
	case s.whole && other.whole:
		return s.text == other.text
	case s.whole:
		return strings.HasPrefix(s.text, other.text)
	case other.whole:
		return strings.HasPrefix(other.text, s.text)
	}
	return strings.HasPrefix(s.text, other.text) || strings.HasPrefix(other.text, s.text)
}

// mayContain reports whether an expression may match a text with a character.
func mayContain(re *syntax.Regexp, r rune) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	case syntax.OpLiteral:
		return re.Flags&syntax.FoldCase != 0 || slices.Contains(re.Rune, r)
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i] <= r && r <= re.Rune[i+1] {
				return true
			}
		}
	}
	return slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return mayContain(sub, r) })
}
