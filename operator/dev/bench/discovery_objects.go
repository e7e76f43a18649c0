package main

import (
	"context"
	"fmt"
	"net/url"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/discoverytest"
)

// fill creates a Prometheus, a ServiceMonitor per job, and the pods and Services that they find.
func (d *discovery) fill(ctx context.Context) error {
	for _, name := range []string{demo, "firekeeper"} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := d.controlPlane.kube.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for _, name := range []string{"default", "prometheus"} {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := d.controlPlane.kube.CoreV1().ServiceAccounts(demo).Create(ctx, account, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if err := d.controlPlane.allowDiscovery(ctx); err != nil {
		return err
	}
	crds := d.controlPlane.crds[v1.SchemeGroupVersion]
	if err := crds.Post().Namespace(demo).Resource("prometheuses").Body(d.owner("own")).Do(ctx).Error(); err != nil {
		return err
	}
	for i := range d.jobs {
		if err := crds.Post().Namespace(demo).Resource("servicemonitors").Body(d.monitor(i)).Do(ctx).Error(); err != nil {
			return err
		}
	}
	return d.controlPlane.storeServices(ctx, d.jobs*d.endpoints, d.jobs, d.service, d.say)
}

func (d *discovery) owner(mode string) *v1.Prometheus {
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: demo, Name: "main", Annotations: map[string]string{wellknown.AnnotationTargetDiscovery: mode}}}
	p.Spec.Version, p.Spec.Shards, p.Spec.ServiceAccountName = d.version, new(int32(d.shards)), "prometheus"
	p.Spec.ServiceDiscoveryRole, p.Spec.ServiceMonitorSelector = v1.EndpointSliceRole, &metav1.LabelSelector{}
	p.Spec.ScrapeInterval = "1000h" // only discovery is measured
	return p
}

func (d *discovery) monitor(i int) *v1.ServiceMonitor {
	m := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: demo, Name: fmt.Sprintf("app-%04d", i)}}
	m.Spec.Selector.MatchLabels = map[string]string{"app": m.Name}
	m.Spec.Endpoints = []v1.Endpoint{{Port: "http"}}
	return m
}

// service returns the Service and the EndpointSlice of a job.
func (d *discovery) service(i int) (corev1.Service, discoveryv1.EndpointSlice) {
	name := d.monitor(i).Name
	meta := metav1.ObjectMeta{Namespace: demo, Name: name, UID: types.UID(fmt.Sprintf("22222222-3333-4444-5555-%012d", i)), Labels: map[string]string{"app": name}}
	slice := discoveryv1.EndpointSlice{ObjectMeta: meta, AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(8080)), Protocol: new(corev1.ProtocolTCP)}}}
	slice.Labels = map[string]string{discoveryv1.LabelServiceName: name}
	for k := range d.endpoints {
		pod := discoverytest.TypicalPod(i*d.endpoints + k)
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{pod.Status.PodIP}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)},
			NodeName: new(pod.Spec.NodeName), TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: demo, Name: pod.Name}})
	}
	service := corev1.Service{ObjectMeta: meta}
	service.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 80}}
	return service, slice
}

// change gives the first endpoint of a slice an address that it never had, and returns the job.
func (d *discovery) change(ctx context.Context, address func(n int) string) (job int, err error) {
	d.changed++
	job = d.changed % d.jobs
	patch := fmt.Sprintf(`[{"op":"replace","path":"/endpoints/0/addresses/0","value":%q}]`, address(d.changed))
	_, err = d.controlPlane.kube.DiscoveryV1().EndpointSlices(demo).Patch(ctx, d.monitor(job).Name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	return job, err
}

func anyAddress(n int) string { return fmt.Sprintf("10.200.%d.%d", n>>8, n&255) }

// churn changes slices at the rate, for the length.
func (d *discovery) churn(ctx context.Context) error {
	tick := time.NewTicker(time.Duration(float64(time.Second) / d.rate))
	defer tick.Stop()
	for end := time.Now().Add(d.length); time.Now().Before(end); {
		if _, err := d.change(ctx, anyAddress); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// listURL returns the URL of the list of a job.
func (d *discovery) listURL(sd string, job int) string {
	return "http://" + sd + "/sd/" + url.PathEscape(d.jobName(job))
}

func (d *discovery) jobName(job int) string {
	return "serviceMonitor/" + demo + "/" + d.monitor(job).Name + "/0"
}
