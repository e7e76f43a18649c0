package regexcost

import (
	"regexp/syntax"
	"unicode/utf8"
)

// Work returns about how many instructions of an anchored expression are executed at most for each character of
// the text. Most expressions have a few, regardless of their length: a list of names is compared with the text as one.
// Where parts may begin at several characters, as after .* or in (.?){1000}, each of them is tried at each character.
//
// What happens once for a text is not included: at most the instructions that [Of] counts.
func Work(re *syntax.Regexp) int { return workOf(re).once }

// work is the work for an expression or a part of one.
type work struct {
	// once is the work for each character if it begins at one character of the text, and always if at any of them.
	once, always int
	// length is the number of characters of all matches; -1 if they differ.
	length int
}

func workOf(re *syntax.Regexp) work {
	switch re.Op {
	case syntax.OpLiteral:
		return work{once: 1, always: len(re.Rune), length: len(re.Rune)}
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return work{once: 1, always: 1, length: 1}
	case syntax.OpCapture:
		return workOf(re.Sub[0]).plus(1)
	case syntax.OpConcat:
		return sequence(re.Sub)
	case syntax.OpAlternate:
		return alternatives(re.Sub)
	case syntax.OpQuest:
		out := workOf(re.Sub[0]).plus(1)
		out.length = -1
		return out
	case syntax.OpStar, syntax.OpPlus:
		always := workOf(re.Sub[0]).always + 1
		return work{once: always, always: always, length: -1}
	case syntax.OpRepeat:
		return repeated(workOf(re.Sub[0]), re.Min, re.Max)
	default: // between characters
		return work{once: 1, always: 1}
	}
}

func (w work) plus(n int) work { return work{w.once + n, w.always + n, w.length} }

// sequence returns the work for parts after each other. A part begins at one character if all before have one length.
func sequence(parts []*syntax.Regexp) (out work) {
	open := 0 // of the parts that may be matched at the same time
	for _, part := range parts {
		w := workOf(part)
		switch {
		case out.length < 0:
			open += w.always
		case w.length < 0:
			open, out.length = w.once, -1
		default:
			out.length += w.length
		}
		out.once, out.always = max(out.once, w.once, open), out.always+w.always
	}
	return out
}

// alternatives returns the work for parts of which one matches. Of those that begin with different characters, at
// most one matches the first character.
func alternatives(parts []*syntax.Regexp) (out work) {
	var any, most int
	beginning := map[rune]int{}
	for i, part := range parts {
		w := workOf(part)
		if i == 0 {
			out.length = w.length
		} else if w.length != out.length {
			out.length = -1
		}
		out.always += w.always + 1
		if first, is := firstRune(part); is {
			beginning[first] += w.once
			most = max(most, beginning[first])
		} else {
			any += w.once
		}
	}
	out.once = 1 + any + most
	return out
}

// firstRune returns the character with which all matches of an expression begin, if there is one.
func firstRune(re *syntax.Regexp) (first rune, is bool) {
	switch {
	case re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase == 0:
		return re.Rune[0], true
	case re.Op == syntax.OpConcat || re.Op == syntax.OpCapture:
		return firstRune(re.Sub[0])
	}
	return utf8.RuneError, false
}

// repeated returns the work for a part that occurs least to most times; most is -1 for no end.
func repeated(w work, least, most int) work {
	copies := max(least+1, most)
	out := work{once: w.once + 1, always: (w.always + 1) * copies, length: -1}
	switch {
	case w.length < 0:
		out.once = out.always
	case most < 0:
		out.once = w.always + 1 // the last copy may begin again at any character
	case least == most:
		out.length = w.length * least
	}
	return out
}
