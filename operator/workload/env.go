package workload

import corev1 "k8s.io/api/core/v1"

// FieldVar returns an environment variable with the value of a field of the pod.
func FieldVar(name, field string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: field}}}
}
