package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/client"
)

// bed is a control plane with the objects of one size.
type bed struct {
	*cluster.Cluster
	kube kubernetes.Interface
	crds rest.Interface
}

// creators is how many objects are created at the same time.
const creators = 32

// newBed starts a control plane; the caller stops it, also after an error.
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
	if err := v1.AddToScheme(scheme); err != nil {
		return err
	}
	cfg := &rest.Config{
		Host: b.Host, BearerToken: b.Token, QPS: -1, // no limit of ours
		TLSClientConfig: rest.TLSClientConfig{CAFile: b.CAFile},
	}
	crds, err := client.New(cfg, scheme, v1.SchemeGroupVersion)
	if err != nil {
		return err
	}
	b.crds = crds.REST()
	core := rest.CopyConfig(cfg)
	core.ContentType, core.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf"
	b.kube, err = kubernetes.NewForConfig(core)
	return err
}

// fill creates everything of a size.
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
	}
	for _, kind := range []struct {
		resource string
		count    int
		object   func(i int) (namespace string, object runtime.Object)
	}{
		{v1.ServiceMonitorResource, s.monitors, func(i int) (string, runtime.Object) { return team(i), monitor(i) }},
		{v1.PrometheusRuleResource, s.rules, func(i int) (string, runtime.Object) { return team(i), rule(i) }},
		{v1.PrometheusResource, s.owners, func(i int) (string, runtime.Object) { return ownerNamespace, owner(i) }},
	} {
		began := time.Now()
		if err := b.create(ctx, kind.resource, kind.count, kind.object, say); err != nil {
			return err
		}
		say("created %d %s in %s", kind.count, kind.resource, time.Since(began).Round(time.Second))
	}
	return nil
}

func (b *bed) create(ctx context.Context, resource string, count int, object func(int) (string, runtime.Object), say func(string, ...any)) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(creators)
	var done atomic.Int64
	for i := range count {
		g.Go(func() error {
			namespace, obj := object(i)
			if err := b.crds.Post().Namespace(namespace).Resource(resource).Body(obj).Do(ctx).Error(); err != nil {
				return fmt.Errorf("create %s: %w", resource, err)
			}
			if n := done.Add(1); n%2000 == 0 {
				say("%d of %d %s", n, count, resource)
			}
			return nil
		})
	}
	return g.Wait()
}

// patch changes one object by a JSON patch.
func (b *bed) patch(ctx context.Context, resource, namespace, name string, patch []byte) error {
	return b.crds.Patch(types.JSONPatchType).Namespace(namespace).Resource(resource).Name(name).Body(patch).Do(ctx).Error()
}
