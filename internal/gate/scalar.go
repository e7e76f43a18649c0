package gate

import "strings"

// style is the way in which a string is written.
type style uint8

const (
	plain  style = iota // unquoted
	quoted              // between double quotes, with nothing to escape
	ask                 // marshaled by the library
)

// Character classes of ASCII for plain scalars.
const (
	plainAnywhere uint8 = 1 << iota // letters, digits and harmless punctuation
	plainInside                     // except as the first character
	wordOnly                        // may begin a boolean or null
	numeric                         // may begin a number or timestamp
	inNumber                        // may occur in a number or timestamp
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

// styleOf returns the style of s for a value that starts in the given column. It returns
// ask in all doubtful cases. Lines longer than foldColumn are among them, because the
// library folds them at spaces.
func styleOf(s string, column int) style {
	if s == "" {
		return quoted
	}
	first := classes[s[0]]
	if strings.HasPrefix(s, "...") { // may be a document end marker
		return ask
	}
	if first&plainAnywhere == 0 && !(s[0] == '-' && len(s) > 1 && s[1] > ' ' && s[1] != '-') {
		return ask
	}
	if first&wordOnly != 0 && len(s) <= 5 && words[s] {
		if s == "~" {
			return ask
		}
		return quoted
	}
	blanks, couldBeNumber, digits := false, first&numeric != 0, first&numeric != 0
	for i := range len(s) {
		c := s[i]
		class := classes[c]
		switch {
		case c == ' ':
			// A space at the end is handled below; '#' after a space has no class.
			blanks = true
		case c == ':':
			if i+1 == len(s) || s[i+1] == ' ' {
				return ask
			}
		case class&plainInside == 0:
			return ask
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
		return ask
	case blanks && (s[len(s)-1] == ' ' || column+len(s) > foldColumn):
		return ask
	}
	return plain
}

// foldColumn is the column at which the library starts to fold lines.
const foldColumn = 78

// obviousText reports whether s is a string although it begins like a number: ".+" and
// ".*".
func obviousText(s string) bool {
	return s[0] == '.' && len(s) > 1 && (s[1] == '+' || s[1] == '*')
}
