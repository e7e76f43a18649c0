package feed

import (
	"unicode/utf8"

	"github.com/prometheus/common/model"
)

// length returns the length of a target as JSON, without encoding it. labels include the address.
func length(labels model.LabelSet) int {
	n := len(`{"targets":[],"labels":{}}`) + jsonLength(string(labels[model.AddressLabel]))
	labelsSoFar := 0
	for name, value := range labels {
		if name == model.AddressLabel {
			continue
		}
		n += jsonLength(string(name)) + jsonLength(string(value)) + len(`:,`)
		labelsSoFar++
	}
	if labelsSoFar > 0 {
		n-- // no comma after the last one
	}
	return n
}

// jsonLength returns the length of a string as encoding/json writes it.
func jsonLength(text string) int {
	n := 2
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c == '"' || c == '\\' || c == '\b' || c == '\f' || c == '\n' || c == '\r' || c == '\t':
				n += 2
			case c < ' ' || c == '<' || c == '>' || c == '&':
				n += 6
			default:
				n++
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if r == utf8.RuneError && size == 1 || r == '\u2028' || r == '\u2029' {
			n += 6
		} else {
			n += size
		}
	}
	return n
}
