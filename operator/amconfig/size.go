package amconfig

import "fmt"

// maxFragmentBytes bounds the configuration that one object makes: an object of the API has
// at most 1.5 MB, and values of Secrets and the indentation of deep routes multiply.
const maxFragmentBytes = 4 << 20

func checkFragmentSize(sections map[Section][]byte) error {
	n := 0
	for _, text := range sections {
		n += len(text)
	}
	if n > maxFragmentBytes {
		return fmt.Errorf("the object generates %d bytes of configuration, the limit is %d", n, maxFragmentBytes)
	}
	return nil
}
