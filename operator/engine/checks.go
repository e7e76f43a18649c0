package engine

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// checkCache is the result of the last check of the objects that a workload names. They are not
// watched, and a reconciliation without changes must not send requests.
type checkCache struct {
	generation int64
	at         time.Time
	err        error
}

// checkPeriod is the validity of a check of unwatched objects.
const checkPeriod = 5 * time.Minute

// check checks the unwatched objects that a workload names.
func (c *Controller) check(ctx context.Context, w v1.Workload, shape Shape, last *checkCache) error {
	if last.generation == w.GetGeneration() && last.err == nil && time.Since(last.at) < checkPeriod {
		return nil
	}
	err := c.checkStorageClass(ctx, w.GetWorkloadFields().Storage)
	if err == nil {
		err = c.checkService(ctx, w.GetNamespace(), shape)
	}
	*last = checkCache{generation: w.GetGeneration(), at: time.Now(), err: err}
	return err
}

func (c *Controller) checkStorageClass(ctx context.Context, storage *v1.StorageSpec) error {
	if !c.opts.StorageClasses || storage == nil {
		return nil
	}
	name := ptr.Deref(storage.VolumeClaimTemplate.Spec.StorageClassName, "")
	if name == "" {
		return nil
	}
	_, err := c.kube.StorageV1().StorageClasses().Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return faults.At("spec.storage.volumeClaimTemplate.spec.storageClassName", fmt.Errorf("storage class %q does not exist", name))
	case err != nil:
		return fmt.Errorf("read storage class %q: %w", name, err)
	}
	return nil
}

func (c *Controller) checkService(ctx context.Context, namespace string, shape Shape) error {
	if !shape.Service.Custom {
		return nil
	}
	svc, err := c.kube.CoreV1().Services(namespace).Get(ctx, shape.Service.Name, metav1.GetOptions{})
	if err != nil {
		return faults.At("spec.serviceName", err)
	}
	return workload.CheckService(svc, shape.Selector)
}
