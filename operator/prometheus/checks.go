package prometheus

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// checkCache remembers when the objects that an owner names were last checked: they
// are not watched, and a reconciliation without changes sends no request.
type checkCache struct {
	generation int64
	at         time.Time
	err        error
}

// checkPeriod is how long a check of an unwatched object holds.
const checkPeriod = 5 * time.Minute

// check checks the objects that an owner names and that are not watched.
func (c *Controller) check(ctx context.Context, o Owner, last *checkCache) error {
	if last.generation == o.GetGeneration() && last.err == nil && time.Since(last.at) < checkPeriod {
		return nil
	}
	err := c.checkStorageClass(ctx, o)
	if err == nil {
		err = c.checkService(ctx, o)
	}
	*last = checkCache{generation: o.GetGeneration(), at: time.Now(), err: err}
	return err
}

func (c *Controller) checkStorageClass(ctx context.Context, o Owner) error {
	if !c.opts.StorageClasses || o.Fields.Storage == nil {
		return nil
	}
	name := valueOr(o.Fields.Storage.VolumeClaimTemplate.Spec.StorageClassName, "")
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

func (c *Controller) checkService(ctx context.Context, o Owner) error {
	owner := o.Workload(c.opts.Workload)
	if !owner.CustomService() {
		return nil
	}
	svc, err := c.kube.CoreV1().Services(o.GetNamespace()).Get(ctx, owner.ServiceName(), metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("spec.serviceName: %w", err)
	}
	return owner.CheckService(svc)
}
