package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
)

// bed is a control plane with the objects of one size.
type bed struct {
	*cluster.Cluster
	kube kubernetes.Interface
	crds map[schema.GroupVersion]rest.Interface
}

// creators is the number of concurrent creations.
const creators = 32

// newBed starts a control plane. The caller must stop it, also after an error.
func (o *options) newBed(ctx context.Context) (*bed, error) {
	files, err := o.definitions()
	if err != nil {
		return nil, err
	}
	c, err := cluster.Start(ctx, cluster.Options{ControllerManager: true, Log: o.log})
	if err != nil {
		return nil, err
	}
	b := &bed{Cluster: c}
	if err := b.connect(); err != nil {
		return b, err
	}
	args := []string{"create"}
	for _, f := range files {
		args = append(args, "-f", f)
	}
	for _, args := range [][]string{args, {"wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"}} {
		if out, err := c.Kubectl(ctx, args...); err != nil {
			return b, fmt.Errorf("kubectl %s: %w: %s", args[0], err, out)
		}
	}
	return b, nil
}

func (b *bed) connect() error {
	scheme := runtime.NewScheme()
	if err := errors.Join(v1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return err
	}
	cfg := &rest.Config{
		Host: b.Host, BearerToken: b.Token, QPS: -1, // no client-side throttling
		TLSClientConfig: rest.TLSClientConfig{CAFile: b.CAFile},
	}
	b.crds = map[schema.GroupVersion]rest.Interface{}
	for _, version := range []schema.GroupVersion{v1.SchemeGroupVersion, v1alpha1.SchemeGroupVersion} {
		crds, err := client.New(cfg, scheme, version)
		if err != nil {
			return err
		}
		b.crds[version] = crds.REST()
	}
	core := rest.CopyConfig(cfg)
	core.ContentType, core.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf"
	var err error
	b.kube, err = kubernetes.NewForConfig(core)
	return err
}

// fill creates all objects of a size.
func (b *bed) fill(ctx context.Context, s size, say func(string, ...any)) error {
	names := []string{ownerNamespace}
	for i := range teams {
		names = append(names, team(i))
	}
	for _, name := range names {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := b.kube.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
			return err
		}
		if s.secret == nil {
			continue
		}
		if _, err := b.kube.CoreV1().Secrets(name).Create(ctx, s.secret(name), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for i, kind := range s.selected {
		if err := b.create(ctx, kind.resource, s.counts[i], team, say); err != nil {
			return err
		}
	}
	return b.create(ctx, s.subject.owners, s.owners, func(int) string { return ownerNamespace }, say)
}

func (b *bed) create(ctx context.Context, kind resource, count int, namespace func(int) string, say func(string, ...any)) error {
	began := time.Now()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(creators)
	var done atomic.Int64
	for i := range count {
		g.Go(func() error {
			err := b.crds[kind.GroupVersion()].Post().Namespace(namespace(i)).Resource(kind.Resource).Body(kind.object(i)).Do(ctx).Error()
			if err != nil {
				return fmt.Errorf("create %s: %w", kind.Resource, err)
			}
			if n := done.Add(1); n%2000 == 0 {
				say("%d of %d %s", n, count, kind.Resource)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	say("created %d %s in %s", count, kind.Resource, time.Since(began).Round(time.Second))
	return nil
}

// patch applies a JSON patch to an object.
func (b *bed) patch(ctx context.Context, kind schema.GroupVersionResource, namespace, name string, patch []byte) error {
	return b.crds[kind.GroupVersion()].Patch(types.JSONPatchType).Namespace(namespace).Resource(kind.Resource).Name(name).Body(patch).Do(ctx).Error()
}
