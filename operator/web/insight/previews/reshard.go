package previews

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

// Reshard returns what another number of shards would change for a workload. The caller needs
// permission to get it. It evaluates all jobs of the workload, like a preview without manifests.
func (s *Service) Reshard(ctx context.Context, r access.Rights, workload catalog.Ref, shards int) (*preview.Resharding, error) {
	a, resource := access.NewChecker(ctx, r), catalog.Of(workload.Kind).GroupResource()
	if !a.MayGet(workload) {
		return nil, apierrors.NewForbidden(resource, workload.Name, errors.New(access.NeedsGet(workload)))
	}
	leave, err := s.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	release, err := s.reserve(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer release()
	setups, err := s.Fresh()
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	p := &builder{s: s, a: a, setups: setups, given: []catalog.Ref{workload}, used: map[catalog.Ref]bool{}, bounds: preview.Bounds{Jobs: maxResharded, Regexps: maxRegexps, Text: maxPreviewText}}
	nothing, _ := manifests.Read(manifestsName, nil, explain.Kinds(setups))
	over := overlay.Over(s.Reader, nothing)
	workloads, err := p.workloads(ctx, over)
	if err != nil {
		return nil, unresharded(err)
	}
	for _, each := range workloads {
		if each.Ref != workload {
			continue
		}
		if each.Error != "" {
			invalid := apierrors.NewConflict(resource, workload.String(), errors.New(each.Error))
			invalid.ErrStatus.Message = each.Error
			return nil, invalid
		}
		out, err := preview.Reshard(ctx, each, shards, p.visible(ctx, over), s.Options)
		if err != nil {
			return nil, unresharded(cmp.Or(ctx.Err(), err))
		}
		return out, nil
	}
	return nil, apierrors.NewNotFound(resource, workload.Name)
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
