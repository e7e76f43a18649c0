package insight

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
	"github.com/firekeeper-dev/firekeeper/operator/readers/overlay"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// maxResharded is the maximum number of jobs of a workload of which another number of shards is evaluated.
const maxResharded = 5000

// Reshard implements [Answers]. It evaluates all jobs of the workload, like a preview without manifests.
func (c *Cluster) Reshard(ctx context.Context, r access.Rights, w Object, shards int) (*preview.Resharding, error) {
	a := access.NewChecker(ctx, r)
	if !a.MayGet(w.Ref()) {
		return nil, apierrors.NewForbidden(w.GroupResource(), w.NamespacedName.Name, errors.New(access.NeedsGet(w.Ref())))
	}
	leave, err := c.enterPreview()
	if err != nil {
		return nil, err
	}
	defer leave()
	release, err := c.reservePreview(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer release()
	setups, err := c.Fresh()
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	p := &previewBuilder{c: c, a: a, setups: setups, given: []catalog.Ref{w.Ref()}, used: map[catalog.Ref]bool{}, bounds: preview.Bounds{Jobs: maxResharded, Regexps: maxRegexps, Text: maxPreviewText}}
	nothing, _ := manifests.Read(manifestsName, nil, explain.Kinds(setups))
	over := overlay.Over(c.Reader, nothing)
	workloads, err := p.workloads(ctx, over)
	if err != nil {
		return nil, unresharded(err)
	}
	for _, each := range workloads {
		if each.Ref != w.Ref() {
			continue
		}
		if each.Error != "" {
			invalid := apierrors.NewConflict(w.GroupResource(), w.Ref().String(), errors.New(each.Error))
			invalid.ErrStatus.Message = each.Error
			return nil, invalid
		}
		out, err := preview.Reshard(ctx, each, shards, p.visible(ctx, over), c.Options)
		if err != nil {
			return nil, unresharded(cmp.Or(ctx.Err(), err))
		}
		return out, nil
	}
	return nil, apierrors.NewNotFound(w.GroupResource(), w.NamespacedName.Name)
}

// unresharded returns the error of a failed evaluation of another number of shards.
func unresharded(err error) error {
	const other = "operator targets --shards=N has no such limit"
	if over, large := errors.AsType[*preview.LimitError](err); large {
		return apierrors.NewBadRequest(over.What + ": " + other)
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return apierrors.NewTimeoutError("it takes too long: "+other, 1)
	}
	if few, is := errors.AsType[*preview.ShardsError](err); is {
		return apierrors.NewBadRequest(fmt.Sprintf("parameter %q: %v", "shards", few))
	}
	return apierrors.NewServiceUnavailable(err.Error())
}
