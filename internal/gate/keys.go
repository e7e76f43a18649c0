package gate

import (
	"cmp"
	"unicode"
)

// Texts is a map whose keys are in the order of the YAML library, which compares numbers in keys by value: a2 precedes a10. Other
// maps have their keys in byte order.
type Texts map[string]string

// compareKeys compares keys as the library does: at the first difference, letters come after everything else, and
// digits count as a number. This order has cycles (1A, 02, 11A), with which the library writes a random order. Sort by
// bytes before, so that the order is always the same.
func compareKeys(a, b string) int {
	x, y := []rune(a), []rune(b)
	at := 0
	for at < len(x) && at < len(y) && x[at] == y[at] {
		at++
	}
	if at == len(x) || at == len(y) {
		return cmp.Compare(len(x), len(y))
	}
	switch xLetter, yLetter := unicode.IsLetter(x[at]), unicode.IsLetter(y[at]); {
	case xLetter && yLetter:
		return cmp.Compare(x[at], y[at])
	case xLetter:
		return 1
	case yLetter:
		return -1
	}
	before := int64(0) // zeros within a number are not leading zeros
	if (x[at] == '0' || y[at] == '0') && insideNumber(x[:at]) {
		before = 1
	}
	xValue, xDigits := leadingNumber(x[at:], before)
	yValue, yDigits := leadingNumber(y[at:], before)
	return cmp.Or(cmp.Compare(xValue, yValue), cmp.Compare(xDigits, yDigits), cmp.Compare(x[at], y[at]))
}

// insideNumber reports whether the text ends in digits that are not all zero.
func insideNumber(text []rune) bool {
	for i := len(text) - 1; i >= 0 && unicode.IsDigit(text[i]); i-- {
		if text[i] != '0' {
			return true
		}
	}
	return false
}

// leadingNumber returns the value of the digits at the beginning of the text, after those whose value is before, and their number.
func leadingNumber(text []rune, before int64) (value int64, digits int) {
	value = before
	for digits < len(text) && unicode.IsDigit(text[digits]) {
		value = value*10 + int64(text[digits]-'0')
		digits++
	}
	return value, digits
}
