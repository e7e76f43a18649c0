package crds_test

import (
	"context"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
)

// The CRDs pass the checks of an API server when a CRD is created: structural schema,
// defaults, list types, CEL rules and their cost.
func TestValid(t *testing.T) {
	definitions, err := crds.Full("1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range definitions {
		t.Run(crd.Spec.Names.Kind, func(t *testing.T) {
			apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
			apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
			for _, v := range crd.Spec.Versions {
				if v.Storage {
					crd.Status.StoredVersions = []string{v.Name}
				}
			}
			internal := &apiextensions.CustomResourceDefinition{}
			if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, internal, nil); err != nil {
				t.Fatal(err)
			}
			for _, problem := range validation.ValidateCustomResourceDefinition(context.Background(), internal) {
				t.Error(problem)
			}
		})
	}
}
