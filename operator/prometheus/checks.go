package prometheus

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// checkCache remembers when the objects that p names were last looked at: they
// are not watched, and an idle pass makes no call.
type checkCache struct {
	generation int64
	at         time.Time
	err        error
}

// checkPeriod is how long a check of an unwatched object holds.
const checkPeriod = 5 * time.Minute

// check looks at the objects that p names and that are not watched.
func (c *Controller) check(ctx context.Context, p *v1.Prometheus, last *checkCache) error {
	if last.generation == p.Generation && last.err == nil && time.Since(last.at) < checkPeriod {
		return nil
	}
	err := c.checkStorageClass(ctx, p)
	if err == nil {
		err = c.checkService(ctx, p)
	}
	*last = checkCache{generation: p.Generation, at: time.Now(), err: err}
	return err
}

func (c *Controller) checkStorageClass(ctx context.Context, p *v1.Prometheus) error {
	if !c.opts.StorageClasses || p.Spec.Storage == nil {
		return nil
	}
	name := valueOr(p.Spec.Storage.VolumeClaimTemplate.Spec.StorageClassName, "")
	if name == "" {
		return nil
	}
	_, err := c.kube.StorageV1().StorageClasses().Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("spec.storage.volumeClaimTemplate.spec.storageClassName: storage class %q does not exist", name)
	case err != nil:
		return fmt.Errorf("read storage class %q: %w", name, err)
	}
	return nil
}

func (c *Controller) checkService(ctx context.Context, p *v1.Prometheus) error {
	owner := workload.ForServer(p, c.opts.Workload)
	if !owner.CustomService() {
		return nil
	}
	svc, err := c.kube.CoreV1().Services(p.Namespace).Get(ctx, owner.ServiceName(), metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("spec.serviceName: %w", err)
	}
	return owner.CheckService(svc)
}
