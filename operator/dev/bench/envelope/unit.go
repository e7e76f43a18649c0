package envelope

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Unit is how a cost is measured and written.
type Unit int

// The units. Values are in nanoseconds, bytes, and as they are.
const (
	Time Unit = iota
	Bytes
	Count
)

// Of returns a duration as a value with the unit Time.
func Of(d time.Duration) float64 { return float64(d) }

// write returns a value with three digits at most: "33 ms", "1.8 s", "235 MB".
func (u Unit) write(value float64) string {
	if math.IsNaN(value) {
		return "–"
	}
	name := ""
	switch magnitude := math.Abs(value); {
	case u == Time && magnitude >= 1e9:
		name, value = " s", value/1e9
	case u == Time && (magnitude >= 1e6 || magnitude == 0):
		name, value = " ms", value/1e6
	case u == Time:
		name, value = " µs", value/1e3
	case u == Bytes && magnitude >= 1e9:
		name, value = " GB", value/1e9
	case u == Bytes && (magnitude >= 1e6 || magnitude == 0):
		name, value = " MB", value/1e6
	case u == Bytes:
		name, value = " KB", value/1e3
	}
	return digits(value) + name
}

// digits rounds to three digits, and separates thousands.
func digits(value float64) string {
	magnitude := math.Abs(value)
	switch {
	case magnitude >= 100:
		return thousands(int(math.Round(value)))
	case magnitude >= 9.95:
		return trim(strconv.FormatFloat(value, 'f', 0, 64))
	case magnitude >= 0.095:
		return trim(strconv.FormatFloat(value, 'f', 1, 64))
	default:
		return trim(strconv.FormatFloat(value, 'g', 2, 64))
	}
}

func trim(text string) string { return strings.TrimSuffix(text, ".0") }

// thousands writes 20000 as "20,000".
func thousands(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
