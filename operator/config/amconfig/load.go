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

// utf8Labels makes the loader parse labels like Alertmanager does by default since
// 0.27.0: any UTF-8 text, and matchers that only the classic parser accepts. The setting
// is global to the process and must be made before the first document is loaded. Other
// checks reject labels that older versions do not support.
var utf8Labels = sync.OnceFunc(func() {
	compat.InitFromFlags(promslog.NewNopLogger(), featurecontrol.NoopFlags{})
})

var errPanics = errors.New("the loader panics")

// load loads a document with Alertmanager's own loader. The error may contain secrets; see [explain].
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
