//lint:file-ignore SA1019 Prometheus with the role Endpoints, the default, reads this kind.

package kubelet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// live holds the live objects, as last read or written.
type live struct {
	service   *corev1.Service
	endpoints *corev1.Endpoints
	slices    []*discoveryv1.EndpointSlice
}

// allRead is how far a sync got that has read the live objects. Each object that it could not write is one less.
const allRead = math.MaxInt32

// sync writes the objects that differ from the state of the nodes. A failure of one
// object does not prevent writes of the others.
func (c *Controller) sync(ctx context.Context) error {
	c.reached = 0
	periodic := c.stale.Swap(false)
	if periodic {
		if err := c.read(ctx); err != nil {
			return err
		}
	}
	c.reached = allRead
	all, problems := c.opts.addresses(c.sorted())
	c.logProblems(problems, periodic)
	errs := []error{c.syncService(ctx)}
	if errs[0] != nil {
		c.reached--
	}
	if c.opts.Endpoints {
		err := c.syncEndpoints(ctx, all)
		c.metrics.synced(resourceEndpoints, err)
		if errs = append(errs, err); err != nil {
			c.reached--
		}
	}
	if c.opts.keepsSlices() {
		err := c.syncSlices(ctx, all)
		c.metrics.synced(resourceSlices, err)
		errs = append(errs, err)
	}
	return errors.Join(append(errs, c.tidy(ctx))...)
}

// read reads the live objects.
func (c *Controller) read(ctx context.Context) (err error) {
	namespace, name := c.opts.Service.Namespace, c.opts.Service.Name
	if c.live.service, err = found(c.kube.CoreV1().Services(namespace).Get(ctx, name, metav1.GetOptions{})); err != nil {
		return fmt.Errorf("get Service: %w", err)
	}
	c.reached++
	if c.opts.Endpoints {
		if c.live.endpoints, err = c.readEndpoints(ctx); err != nil {
			return err
		}
		c.reached++
	}
	if c.opts.keepsSlices() {
		c.live.slices, err = c.readSlices(ctx)
	}
	return err
}

func (c *Controller) readEndpoints(ctx context.Context) (*corev1.Endpoints, error) {
	out, err := found(c.kube.CoreV1().Endpoints(c.opts.Service.Namespace).Get(ctx, c.opts.Service.Name, metav1.GetOptions{}))
	if err != nil {
		return nil, fmt.Errorf("get Endpoints: %w", err)
	}
	return out, nil
}

func (c *Controller) readSlices(ctx context.Context) ([]*discoveryv1.EndpointSlice, error) {
	list, err := c.kube.DiscoveryV1().EndpointSlices(c.opts.Service.Namespace).List(ctx, metav1.ListOptions{LabelSelector: c.opts.sliceSelector()})
	if err != nil {
		return nil, fmt.Errorf("list EndpointSlices: %w", err)
	}
	out := make([]*discoveryv1.EndpointSlice, len(list.Items))
	for i := range list.Items {
		out[i] = &list.Items[i]
	}
	return out, nil
}

// found returns the result of a get request, and nil instead of a not-found error.
func found[T any](o *T, err error) (*T, error) {
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return o, err
}

func (c *Controller) syncService(ctx context.Context) error {
	next := c.opts.service(c.live.service)
	if next == nil {
		return nil
	}
	got, err := c.writer.Service(ctx, next)
	if err != nil {
		return err
	}
	c.live.service = got
	c.log.Info("wrote object", "kind", "Service", "name", got.Name)
	return nil
}

func (c *Controller) syncEndpoints(ctx context.Context, all []address) error {
	next := c.opts.endpoints(all, c.live.endpoints)
	if next == nil {
		return nil
	}
	got, err := c.writer.Endpoints(ctx, next)
	if err != nil {
		return err
	}
	c.live.endpoints = got
	c.log.Info("wrote object", "kind", "Endpoints", "name", got.Name, "addresses", len(all))
	return nil
}

// syncSlices writes the slices that differ. Addresses move between slices only after
// foreign edits. Slices are written before others are deleted, so no address is missing
// in between.
func (c *Controller) syncSlices(ctx context.Context, all []address) error {
	if c.live.service == nil {
		return errors.New("the EndpointSlices need the Service, which does not exist")
	}
	put, gone := c.opts.slices(c.live.service, all, c.live.slices)
	c.reached -= len(put) + len(gone)
	for _, next := range put {
		got, err := c.writer.Slice(ctx, next)
		if err != nil {
			return err
		}
		c.forgetSlice(next)
		c.live.slices = append(c.live.slices, got)
		c.reached++
		c.log.Info("wrote object", "kind", "EndpointSlice", "name", got.Name, "addresses", len(got.Endpoints))
	}
	for _, old := range gone {
		if err := c.writer.DeleteSlice(ctx, old); err != nil {
			return err
		}
		c.forgetSlice(old)
		c.reached++
		c.log.Info("deleted object", "kind", "EndpointSlice", "name", old.Name)
	}
	return nil
}

func (c *Controller) forgetSlice(o *discoveryv1.EndpointSlice) {
	c.live.slices = slices.DeleteFunc(c.live.slices, func(s *discoveryv1.EndpointSlice) bool { return s.Name == o.Name })
}

// tidy deletes, once, the objects that former flags left behind, since they would become
// stale. Without permission, they are left alone.
func (c *Controller) tidy(ctx context.Context) error {
	if c.tidied {
		return nil
	}
	for _, err := range []error{c.tidyEndpoints(ctx), c.tidySlices(ctx)} {
		if apierrors.IsForbidden(err) {
			c.log.Debug("cannot delete kubelet endpoints that are not kept any more", "err", err)
		} else if err != nil {
			return err
		}
	}
	c.tidied = true
	return nil
}

func (c *Controller) tidyEndpoints(ctx context.Context) error {
	if c.opts.Endpoints {
		return nil
	}
	old, err := c.readEndpoints(ctx)
	if err != nil || old == nil || !ours(old) {
		return err
	}
	if err := c.writer.DeleteEndpoints(ctx, old); err != nil {
		return err
	}
	c.log.Info("deleted object", "kind", "Endpoints", "name", old.Name)
	return nil
}

func (c *Controller) tidySlices(ctx context.Context) error {
	if c.opts.Slices {
		return nil
	}
	old, err := c.readSlices(ctx)
	if err != nil {
		return err
	}
	for _, o := range old {
		if err := c.writer.DeleteSlice(ctx, o); err != nil {
			return err
		}
		c.log.Info("deleted object", "kind", "EndpointSlice", "name", o.Name)
	}
	return nil
}
