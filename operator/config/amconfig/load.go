package amconfig

import (
	"errors"
	"fmt"
	"sync"
	_ "time/tzdata" // the loader looks up the locations of time intervals

	"github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/featurecontrol"
	"github.com/prometheus/alertmanager/matcher/compat"
	"github.com/prometheus/common/promslog"
)

// utf8Labels makes the loader read labels as Alertmanager does by default since 0.27.0:
// any UTF-8 text, and what only the classic parser reads. The choice is one for the whole
// process, and it is made before the first document is loaded. What older versions do not
// read is refused by checks of our own.
var utf8Labels = sync.OnceFunc(func() {
	compat.InitFromFlags(promslog.NewNopLogger(), featurecontrol.NoopFlags{})
})

var errPanics = errors.New("the loader panics")

// load asks Alertmanager's own loader about a document. Its error can quote secrets; see
// [explain].
func load(document []byte) (err error) {
	utf8Labels()
	defer func() { // a null where the loader expects none
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanics, p)
		}
	}()
	_, err = config.Load(string(document))
	return err
}
