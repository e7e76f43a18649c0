package promconfig_test

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// A monitor is compiled under the settings of a workload that selects it. An invalid one has an error
// that names its field, and no text.
func ExampleCompileServiceMonitor() {
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "monitoring", Name: "k8s"}}
	p.Spec.Version = "v3.5.0"
	settings, err := promconfig.ServerSettings(p, promconfig.Capabilities{EndpointSlice: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"}}
	m.Spec.Endpoints = []v1.Endpoint{{Port: "http"}}
	f := promconfig.CompileServiceMonitor(m, settings, &assets.Static{})
	fmt.Println(f.Jobs, f.Err)

	m.Spec.Endpoints[0].ScrapeTimeout = "2m"
	m.Spec.Endpoints[0].Interval = "1m"
	f = promconfig.CompileServiceMonitor(m, settings, &assets.Static{})
	fmt.Println(len(f.YAML), f.Err)
	// Output:
	// 1 <nil>
	// 0 spec.endpoints[0].scrapeTimeout: 2m is longer than the interval 1m; set a longer interval, or a shorter timeout
}
