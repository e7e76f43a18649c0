package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// volume is a local volume, with a class that claims of only one namespace use.
const volume = `
apiVersion: v1
kind: PersistentVolume
metadata: {name: NAMESPACE-INDEX, labels: {e2e: NAMESPACE}}
spec:
  storageClassName: NAMESPACE
  capacity: {storage: 5Gi}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  hostPath: {path: FOLDER}
`

// volumes creates local volumes and a StorageClass with the name of the namespace.
func (s space) volumes(t *testing.T, count int) {
	t.Helper()
	s.apply(t, `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: NAMESPACE, labels: {e2e: NAMESPACE}}
provisioner: kubernetes.io/no-provisioner
allowVolumeExpansion: true
`)
	t.Cleanup(func() {
		if _, err := s.Kubectl(context.Background(), "delete", "storageclass,persistentvolume", "-l", "e2e="+s.name, "--wait=false"); err != nil {
			t.Error(err)
		}
	})
	for i := range count {
		folder := filepath.Join(s.Dir, "volumes", fmt.Sprintf("%s-%d", s.name, i)) // deleted with the cluster
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		s.apply(t, s.fill(volume, "INDEX", fmt.Sprint(i), "FOLDER", folder))
	}
}

// claims returns the claims of the namespace as "name request".
func (s space) claims(ctx context.Context) ([]string, error) {
	list, err := s.kube.CoreV1().PersistentVolumeClaims(s.name).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, c := range list.Items {
		out = append(out, c.Name+" "+c.Spec.Resources.Requests.Storage().String())
	}
	slices.Sort(out)
	return out, nil
}

// Fields: storage.emptyDir, storage.volumeClaimTemplate, storage.disableMountSubPath,
// persistentVolumeClaimRetentionPolicy. A claim template is immutable, so the StatefulSet is recreated.
func TestStorageChange(t *testing.T) {
	long(t)
	s, _ := scenario(t, "storage", "storage: {emptyDir: {sizeLimit: 100Mi}}", "prometheus-web-0")
	s.volumes(t, 1)
	uid := s.statefulSet(t, "prometheus-web").UID

	s.patch(t, "web", `{"spec":{"storage":{"emptyDir":{"sizeLimit":"200Mi"}}}}`)
	until(t, "another size", patience, func(ctx context.Context) (bool, error) {
		pods, err := s.pods(ctx, "web")
		if err != nil || len(pods) != 1 {
			return false, err
		}
		volumes := pods[0].Spec.Volumes
		for _, v := range volumes {
			if v.Name == "prometheus-web-db" && v.EmptyDir != nil {
				return v.EmptyDir.SizeLimit.String() == "200Mi", nil
			}
		}
		return false, fmt.Errorf("volumes %v", volumes)
	})
	s.rolledOut(t, "web", "prometheus-web-0")
	if s.statefulSet(t, "prometheus-web").UID != uid {
		t.Error("the StatefulSet was made again for a field that can be changed")
	}

	s.patch(t, "web", `{"spec":{"storage":{"emptyDir":null,"disableMountSubPath":true,"volumeClaimTemplate":{"spec":{
		"storageClassName":"`+s.name+`","resources":{"requests":{"storage":"1Gi"}}}}},
		"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"}}}`)
	until(t, "another StatefulSet", patience, func(ctx context.Context) (bool, error) {
		set, err := s.kube.AppsV1().StatefulSets(s.name).Get(ctx, "prometheus-web", metav1.GetOptions{})
		return err == nil && set.UID != uid, err
	})
	s.rolledOut(t, "web", "prometheus-web-0")
	s.runs(t, "sum(up)", s.webJobs()[0], "prometheus-web-0")
	if got, err := s.claims(t.Context()); err != nil || !slices.Equal(got, []string{"prometheus-web-db-prometheus-web-0 1Gi"}) {
		t.Errorf("claims %q, %v", got, err)
	}
}

// A deleted Prometheus leaves nothing behind; claims are kept or deleted as specified. Fields:
// persistentVolumeClaimRetentionPolicy.
func TestDeletionLeavesNothing(t *testing.T) {
	for policy, left := range map[string][]string{
		"Delete": nil,
		"Retain": {"prometheus-web-db-prometheus-web-0 1Gi", "prometheus-web-db-prometheus-web-1 1Gi"},
	} {
		t.Run(policy, func(t *testing.T) {
			n := start(t)
			t.Parallel()
			s := n.space(t, "deletion-"+strings.ToLower(policy))
			s.volumes(t, 2)
			s.operatorOf(t, "--config-reloader-cpu-limit=0")
			s.web(t, `replicas: 2, persistentVolumeClaimRetentionPolicy: {whenDeleted: `+policy+`},
				storage: {volumeClaimTemplate: {spec: {storageClassName: `+s.name+`, resources: {requests: {storage: 1Gi}}}}}`)
			s.rolledOut(t, "web", webPods...)
			s.in(t, "delete", "prometheus", "web", "--wait=true")
			s.gone(t)
			until(t, "claims", patience, func(ctx context.Context) (bool, error) {
				got, err := s.claims(ctx)
				return slices.Equal(got, left), fmt.Errorf("claims %q, want %q (%v)", got, left, err)
			})
		})
	}
}

// gone waits until the namespace contains no objects of the operator.
func (s space) gone(t *testing.T) {
	t.Helper()
	until(t, "deletion", 2*patience, func(context.Context) (bool, error) {
		left := s.in(t, "get", "secrets,configmaps,services,statefulsets,controllerrevisions,pods", "-l", "app.kubernetes.io/managed-by=prometheus-operator", "-o", "name")
		return left == "", fmt.Errorf("left are %q", left)
	})
	// Kubernetes itself creates a ConfigMap in every namespace.
	if left := s.in(t, "get", "secrets,configmaps,services", "-o", `jsonpath={.items[*].metadata.name}`); left != "kube-root-ca.crt" {
		t.Errorf("left are %q", left)
	}
}
