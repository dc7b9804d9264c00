package integration_test

import (
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// counted sums a metric of all managers of this process, over all of its labels.
func counted(name string) (float64, error) {
	families, err := metrics.Registry.Gather()
	if err != nil {
		return 0, err
	}
	var sum float64
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, metric := range family.GetMetric() {
			sum += metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
		}
	}
	return sum, nil
}
