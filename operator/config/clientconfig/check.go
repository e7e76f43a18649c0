package clientconfig

import "fmt"

// Way is one of several blocks that are mutually exclusive.
type Way struct {
	// Field is the name of the field in the object.
	Field string
	// Given reports whether the block is set; an empty block counts.
	Given bool
}

// AtMostOne returns an error with the first two blocks that are both given.
func AtMostOne(ways ...Way) error {
	first := ""
	for _, w := range ways {
		switch {
		case !w.Given:
		case first == "":
			first = w.Field
		default:
			return Exclusive(first, w.Field)
		}
	}
	return nil
}

// Exclusive returns the error for two fields that are mutually exclusive.
func Exclusive(a, b string) error {
	return fmt.Errorf("%s and %s are mutually exclusive: remove one of them", a, b)
}
