package feed

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

// TestSlowInventories sends inventories of ten pods of each of some namespaces as slowly as possible, all the time. Each pod
// of the other namespaces is served within the time after which it would count as one of an earlier release.
func TestSlowInventories(t *testing.T) {
	for _, hostile := range []int{0, 4, 20} {
		synctest.Test(t, func(t *testing.T) {
			var all inventories
			ctx, stop := context.WithCancel(t.Context())
			send := func(namespace string, limit, takes time.Duration) bool {
				ctx, cancel := context.WithTimeout(ctx, limit)
				defer cancel()
				end, err := all.start(ctx, namespace)
				if err != nil {
					return false
				}
				defer end()
				select {
				case <-time.After(takes):
				case <-ctx.Done():
				}
				return true
			}
			for pod := range hostile * 10 {
				go func() {
					for ctx.Err() == nil {
						send(fmt.Sprint("hostile", pod/10), time.Hour, inventoryTimeout)
					}
				}()
			}
			synctest.Wait()
			var done atomic.Int64
			for n := range 20 {
				go func() {
					for ctx.Err() == nil {
						if send(fmt.Sprint("team", n), targetreport.InventoryTimeout, 100*time.Millisecond) {
							done.Add(1)
							return
						}
						time.Sleep(time.Second)
					}
				}()
			}
			time.Sleep(29 * time.Second)
			synctest.Wait()
			if done.Load() != 20 {
				t.Errorf("%d slow namespaces: %d of 20 inventories were read", hostile, done.Load())
			}
			stop()
			synctest.Wait()
			if len(all.open)+len(all.waiting)+len(all.turns) > 0 {
				t.Errorf("afterwards: %v, %d wait, turns %v", all.open, len(all.waiting), all.turns)
			}
		})
	}
}
