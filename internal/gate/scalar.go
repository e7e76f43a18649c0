package gate

import "strings"

// style is the way in which a string is written.
type style uint8

const (
	plain     style = iota // unquoted
	quoted                 // between double quotes, with nothing to escape
	single                 // between single quotes
	literal                // a block with the lines as they are
	byLibrary              // marshaled by the library
)

// Character classes of ASCII for plain scalars.
const (
	plainAnywhere uint8 = 1 << iota // letters, digits and harmless punctuation
	plainInside                     // except as the first character
	wordOnly                        // may begin a boolean or null
	numeric                         // may begin a number or timestamp
	inNumber                        // may occur in a number or timestamp
	indicator                       // begins something else than a plain scalar
)

var classes = func() (t [256]uint8) {
	for c := 0x21; c < 0x7f; c++ {
		t[c] = plainAnywhere | plainInside
	}
	for _, c := range "#,[]{}&*!|>'\"%@`?:-=<" {
		t[c] &^= plainAnywhere
	}
	for _, c := range ":#" {
		t[c] &^= plainInside // depends on the adjacent characters
	}
	for _, c := range "#,[]{}&*!|>'\"%@`" {
		t[c] |= indicator
	}
	for _, c := range "yYnNtTfFoO~" {
		t[c] |= wordOnly
	}
	for _, c := range "0123456789+-." {
		t[c] |= numeric
	}
	for _, c := range "0123456789+-._:eExXoObBaAcCdDfFtTzZiInNpP" {
		t[c] |= inNumber
	}
	return t
}()

// words are the strings that YAML 1.1 does not read as strings.
var words = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("y Y yes Yes YES true True TRUE on On ON n N no No NO false False FALSE off Off OFF ~ null Null NULL") {
		m[w] = true
	}
	return m
}()

// styleOf returns the style of s. It returns byLibrary in all doubtful cases.
func styleOf(s string) style {
	if s == "" {
		return quoted
	}
	first := classes[s[0]]
	if strings.HasPrefix(s, "...") { // may be a document end marker
		return byLibrary
	}
	out := plain
	switch {
	case first&indicator != 0:
		out = single
	case first&plainAnywhere == 0 && !(s[0] == '-' && len(s) > 1 && s[1] > ' ' && s[1] != '-'):
		return byLibrary
	case first&wordOnly != 0 && len(s) <= 5 && words[s]:
		if s == "~" {
			return byLibrary
		}
		return quoted
	}
	couldBeNumber, digits := first&numeric != 0, first&numeric != 0
	for i := range len(s) {
		c := s[i]
		class := classes[c]
		if class&plainInside == 0 {
			switch {
			case c == ' ':
			case c == '\n':
				return styleOfLines(s)
			case c != ':' && c != '#':
				return byLibrary
			case c == ':' && (i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\n'), c == '#' && i > 0 && s[i-1] == ' ':
				out = single
			}
		}
		if class&inNumber == 0 && c != ' ' {
			couldBeNumber = false
		}
		if c < '0' || c > '9' {
			digits = false
		}
	}
	switch {
	case digits:
		return quoted
	case couldBeNumber && !obviousText(s):
		return byLibrary
	case s[len(s)-1] == ' ':
		return single
	}
	return out
}

// styleOfLines returns the style of a text of several lines, which begins with neither a blank nor a line break.
func styleOfLines(s string) style {
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '\n':
			if s[i-1] == ' ' || i == len(s)-1 && s[i-1] == '\n' {
				return byLibrary
			}
		case classes[c]&plainInside == 0 && c != ' ' && c != ':' && c != '#':
			return byLibrary
		}
	}
	if s[len(s)-1] == ' ' {
		return byLibrary
	}
	return literal
}

// foldColumn is the column after which the library replaces a single space by a line break.
const foldColumn = 80

// obviousText reports whether s is a string although it begins like a number: ".+" and
// ".*".
func obviousText(s string) bool {
	return s[0] == '.' && len(s) > 1 && (s[1] == '+' || s[1] == '*')
}
