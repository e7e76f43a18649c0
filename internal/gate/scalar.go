package gate

import "strings"

// style is how a string may be written without asking the YAML library.
type style uint8

const (
	plain  style = iota // as it is
	quoted              // between double quotes, nothing to escape
	ask                 // only the library knows
)

// Character classes of ASCII, as far as plain scalars care.
const (
	plainAnywhere uint8 = 1 << iota // letters, digits and harmless punctuation
	plainInside                     // not as the first character
	wordOnly                        // as the first character may begin a boolean or null
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
		t[c] &^= plainInside // only decided with their neighbours
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

// words are the strings YAML 1.1 reads as something else.
var words = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("y Y yes Yes YES true True TRUE on On ON n N no No NO false False FALSE off Off OFF ~ null Null NULL") {
		m[w] = true
	}
	return m
}()

// styleOf classifies s for a value that starts in the given column. It answers
// ask whenever it is not sure; lines longer than foldColumn are such a case
// because the library folds them at blanks.
func styleOf(s string, column int) style {
	if s == "" {
		return quoted
	}
	first := classes[s[0]]
	if strings.HasPrefix(s, "...") { // may end a document
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
			// The end is decided below; '#' after a blank has no class.
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

// foldColumn is where the library starts to break lines.
const foldColumn = 78

// obviousText recognises strings that begin like a number and are none:
// ".+", ".*" and durations whose unit letter occurs in numbers as well.
func obviousText(s string) bool {
	return s[0] == '.' && len(s) > 1 && (s[1] == '+' || s[1] == '*')
}
