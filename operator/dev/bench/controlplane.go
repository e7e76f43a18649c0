package main

import (
	"context"
	"errors"
	"fmt"
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

// controlPlane is a control plane with the objects of one size.
type controlPlane struct {
	*cluster.Cluster
	kube  kubernetes.Interface
	crds  map[schema.GroupVersion]rest.Interface
	store *store
	audit *auditLog
}

// creators is the number of concurrent creations.
const creators = 32

// newControlPlane starts a control plane with kube-controller-manager. The caller must end it, also after an error.
func (o *options) newControlPlane(ctx context.Context) (*controlPlane, error) {
	return o.start(ctx, cluster.Options{ControllerManager: true})
}

// newControlPlaneAlone starts a control plane without kube-controller-manager, which would delete pods without a node.
func (o *options) newControlPlaneAlone(ctx context.Context) (*controlPlane, error) {
	return o.start(ctx, cluster.Options{})
}

func (o *options) start(ctx context.Context, opts cluster.Options) (*controlPlane, error) {
	files, err := o.definitions()
	if err != nil {
		return nil, err
	}
	audit, args, err := newAuditLog()
	if err != nil {
		return nil, err
	}
	opts.Log, opts.APIServerArgs = o.log, args
	opts.EtcdArgs = []string{"--quota-backend-bytes=8589934592"} // the largest sizes exceed the default of 2 GiB
	c, err := cluster.Start(ctx, opts)
	if err != nil {
		return nil, errors.Join(err, audit.remove())
	}
	b := &controlPlane{Cluster: c, audit: audit, store: newStore(c.Etcd)}
	if err := b.connect(); err != nil {
		return b, err
	}
	args = []string{"create"}
	for _, f := range files {
		args = append(args, "-f", f)
	}
	for _, args := range [][]string{args, {"wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"}} {
		if out, err := c.Kubectl(ctx, args...); err != nil {
			return b, fmt.Errorf("kubectl %s: %w: %s", args[0], err, out)
		}
	}
	if o.versions == nil {
		return b, nil
	}
	return b, o.versions.find(ctx, o.operator, b)
}

// end stops the control plane and removes its files.
func (b *controlPlane) end() error { return errors.Join(b.Stop(), b.audit.remove()) }

func (b *controlPlane) connect() error {
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
func (b *controlPlane) fill(ctx context.Context, s size, say func(string, ...any)) error {
	for name, labels := range s.namespaces() {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
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
		create := b.create
		if s.counts[i] >= manyObjects {
			create = b.createMany
		}
		if err := create(ctx, kind.resource, s.counts[i], s.namespaceOf, say); err != nil {
			return err
		}
	}
	workloads := s.subject.owners
	workloads.object = s.newOwner
	return b.create(ctx, workloads, s.owners, s.ownerNamespace, say)
}

func (b *controlPlane) createOne(ctx context.Context, kind resource, i int, namespace func(int) string) error {
	obj := kind.object(i)
	obj.SetNamespace(namespace(i))
	if err := b.crds[kind.GroupVersion()].Post().Namespace(namespace(i)).Resource(kind.Resource).Body(obj).Do(ctx).Error(); err != nil {
		return fmt.Errorf("create %s: %w", kind.Resource, err)
	}
	return nil
}

func (b *controlPlane) create(ctx context.Context, kind resource, count int, namespace func(int) string, say func(string, ...any)) error {
	began := time.Now()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(creators)
	for i := range count {
		g.Go(func() error { return b.createOne(ctx, kind, i, namespace) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	say("created %d %s in %s", count, kind.Resource, time.Since(began).Round(time.Second))
	return nil
}

// patch applies a JSON patch to an object.
func (b *controlPlane) patch(ctx context.Context, kind schema.GroupVersionResource, namespace, name string, patch []byte) error {
	return b.crds[kind.GroupVersion()].Patch(types.JSONPatchType).Namespace(namespace).Resource(kind.Resource).Name(name).Body(patch).Do(ctx).Error()
}
