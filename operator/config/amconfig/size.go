package amconfig

import (
	"fmt"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

var errGenerated = fmt.Errorf("the object generates too many bytes of configuration, the limit is %d", budget.GeneratedBytes)

func checkFragmentSize(sections map[Section][]byte) error {
	n := 0
	for _, text := range sections {
		n += len(text)
	}
	if n > budget.GeneratedBytes {
		return errGenerated
	}
	return nil
}
