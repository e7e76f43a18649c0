package rules

import (
	"fmt"

	"github.com/prometheus/prometheus/promql/parser"
)

// token is a token of an expression and its surroundings.
type token struct {
	kind   parser.ItemType
	before parser.ItemType // the previous token; offset also for a number with a sign after it
	within place
}

// place is the kind of brackets around a token.
type place int

const (
	selectorBraces place = iota + 1
	rangeBrackets
	groupingParentheses // the labels of by, on and the like
)

func numberAsDuration(t token) bool {
	return t.kind == parser.NUMBER && (t.within == rangeBrackets || t.before == parser.OFFSET)
}

func quotedName(t token) bool {
	return t.kind == parser.STRING && t.within == selectorBraces && (t.before == parser.LEFT_BRACE || t.before == parser.COMMA)
}

func quotedLabel(t token) bool { return t.kind == parser.STRING && t.within == groupingParentheses }

// next returns the token after t.
func (t token) next(kind parser.ItemType) token {
	out := token{kind: kind, before: t.kind, within: t.within}
	if t.before == parser.OFFSET && (t.kind == parser.ADD || t.kind == parser.SUB) {
		out.before = parser.OFFSET
	}
	switch t.kind {
	case parser.LEFT_BRACE:
		out.within = selectorBraces
	case parser.LEFT_BRACKET:
		out.within = rangeBrackets
	case parser.LEFT_PAREN:
		switch t.before {
		case parser.BY, parser.WITHOUT, parser.ON, parser.IGNORING, parser.GROUP_LEFT, parser.GROUP_RIGHT:
			out.within = groupingParentheses
		}
	case parser.RIGHT_BRACE, parser.RIGHT_BRACKET:
		out.within = 0
	case parser.RIGHT_PAREN:
		if t.within == groupingParentheses {
			out.within = 0
		}
	}
	return out
}

// checkTokens is [Settings.checkSyntax] for forms that a parsed expression does not show, because another one means the same.
func (s *Settings) checkTokens(text string) error {
	if s.newer&tokenForms == 0 {
		return nil
	}
	var t token
	var item parser.Item
	for lexer := parser.Lex(text); ; {
		lexer.NextItem(&item)
		switch item.Typ {
		case parser.EOF, parser.ERROR:
			return nil
		case parser.COMMENT:
			continue
		}
		t = t.next(item.Typ)
		for i, g := range syntaxGates {
			if s.newer&(1<<i) != 0 && g.token != nil && g.token(t) {
				return fmt.Errorf("%s needs >= %s; %s", g.what, g.of(s.Thanos), g.instead)
			}
		}
	}
}

// tokenForms are the forms that checkTokens looks for.
var tokenForms = func() (set syntaxSet) {
	for i, g := range syntaxGates {
		if g.token != nil {
			set |= 1 << i
		}
	}
	return set
}()
