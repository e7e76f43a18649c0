package status

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cputime"
)

// Tens of thousands of objects that are rejected for different reasons are not compared with each other, which took minutes.
func TestManyReasons(t *testing.T) {
	const many = 200_000
	var o Objects
	at, begin := map[reason]int{}, cputime.Now()
	same := strings.Repeat("x", 100)
	for i := range many {
		o.add(at, reason{Rejected, same + fmt.Sprint(i%(many-1))}, fmt.Sprint("demo/", i))
	}
	if took := cputime.Since(begin); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	if len(o.Groups) != many-1 || o.count(Rejected) != many || len(o.Groups[0].Names) != 2 {
		t.Errorf("%d groups of %d objects, %d in the first one", len(o.Groups), o.count(Rejected), len(o.Groups[0].Names))
	}
}
