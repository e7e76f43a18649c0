package assets

import (
	"encoding/base64"
	"strings"
)

// TwiceEncoded describes such a value, with what to do.
const TwiceEncoded = "the value is encoded twice; encode it once, or write it as it is into stringData"

// EncodedTwice reports whether the text that is a whole value is base64 of YAML: the value of a Secret that was encoded
// once more than below data.
func EncodedTwice(text string) bool {
	plain, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	return err == nil && (strings.Contains(string(plain), ": ") || strings.Contains(string(plain), ":\n"))
}
