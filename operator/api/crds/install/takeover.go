package install

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds/definitions"
)

// olderManagers are the managers of programs that install CRDs by update. Their fields
// would stay in a CRD forever, because server-side apply removes only fields of its own
// manager.
var olderManagers = sets.New(
	"kubectl-client-side-apply", "kubectl-create", "kubectl-replace", "kubectl-edit", "before-first-apply",
	"helm", "Helm", "prometheus-operator", "operator", "Terraform", "HashiCorp",
)

// takeOver moves the fields of older managers to ours. The patch fails with a conflict if
// the CRD was written in the meantime.
func takeOver(ctx context.Context, c definitions.Interface, live *apiextensionsv1.CustomResourceDefinition) error {
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(live, olderManagers, fieldManager)
	if err != nil {
		return fmt.Errorf("read the managed fields of %s: %w", live.Name, err)
	}
	if len(patch) == 0 {
		return nil
	}
	if _, err := c.Patch(ctx, live.Name, types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("take over the fields of %s: %w", live.Name, err)
	}
	return nil
}
