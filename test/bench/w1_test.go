package bench

import (
	"fmt"
	"strconv"
	"testing"
	"time"
)

const objectsPerGateway = 6

// BenchmarkW1 measures cold convergence: from the first create of 100 Gateways until all their objects exist.
func BenchmarkW1(b *testing.B) {
	for b.Loop() {
		p := newPlane(b, newBlueprint())
		objects := p.warm(objectsPerGateway)
		const n = 100
		took, writes := p.cold(n)
		bound := p.plainApply(objects, n)
		ratio := took.Seconds() / bound.Seconds()
		results.add(row{workload: fmt.Sprintf("W1 cold convergence of %d Gateways, 6 objects each", n), target: "<= 2x", took: took, least: bound})
		results.add(row{workload: "W1 writes per Gateway", target: "<= 8",
			measured: fmt.Sprintf("%.2f", writes), bound: strconv.Itoa(objectsPerGateway), cost: writes, ratio: writes / objectsPerGateway})
		b.ReportMetric(ratio, "ratio")
		b.ReportMetric(writes, "writes/gateway")
		p.end()
	}
}

// cold makes n Gateways and returns how long it took until their objects are there, and how many writes it took, per Gateway, until
// everything is reported.
func (p *plane) cold(n int) (took time.Duration, writes float64) {
	p.Helper()
	_, took = p.gateways(n, objectsPerGateway)
	p.count.settle(p.B)
	p.Logf("requests for %d Gateways: %v", n, p.count.counts)
	return took, float64(p.count.writes()) / float64(n)
}

// BenchmarkW1Programmed measures until all Gateways are Programmed, with something that plays the inner class.
func BenchmarkW1Programmed(b *testing.B) {
	for b.Loop() {
		p := newPlane(b, newBlueprint())
		play := p.playInner()
		objects := p.warm(objectsPerGateway)
		const n = 100
		started := time.Now()
		namespace, _ := p.gateways(n, objectsPerGateway)
		play.await(namespace, n)
		took := time.Since(started)
		p.count.settle(b)
		play.stop()
		bound := p.plainApply(objects, n)
		ratio := took.Seconds() / bound.Seconds()
		results.add(row{workload: fmt.Sprintf("W1 until all %d Gateways are Programmed", n), took: took, least: bound})
		b.ReportMetric(ratio, "ratio")
		p.end()
	}
}

// BenchmarkW9 measures how W1 grows: the time per Gateway is to stay the same.
func BenchmarkW9(b *testing.B) {
	sizes := []int{50, 100, 200}
	if *full {
		sizes = append(sizes, 400)
	}
	for b.Loop() {
		p := newPlane(b, newBlueprint())
		objects := p.warm(objectsPerGateway)
		for _, n := range sizes {
			took, _ := p.cold(n)
			bound := p.plainApply(objects, n)
			results.add(row{workload: fmt.Sprintf("W9 growth: %3d Gateways, per Gateway", n), target: "flat within 15 %",
				took: took, least: bound, many: n})
		}
		p.end()
	}
}
