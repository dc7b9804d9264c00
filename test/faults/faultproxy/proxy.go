package faultproxy

import (
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Request is what a rule may know of a request.
type Request struct {
	// Verb is Kubernetes' word for what is asked: get, list, watch, create, update, patch, delete.
	Verb string
	// Resource is "resource.group", or "resource.group/subresource".
	Resource string
	// Namespace and Name of the object; the name is empty for lists, and for objects that are created.
	Namespace, Name string
	// Number counts the writes since the proxy began or Restart was called, from 1; 0 for what is no write.
	Number int
}

// String names the request for people.
func (r Request) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s/%s", r.Verb, r.Resource, r.Namespace, r.Name))
}

// Write says whether the request is to change something. Leases and events do not count: they tell nothing of what is rendered.
func (r Request) Write() bool { return r.Number > 0 }

// Answer is what becomes of a request. The zero value passes it on.
type Answer struct {
	// Before and After run before the request is passed on and after it was answered, before the answer is.
	Before, After func()
	// Status is answered, if it is not 0; Header goes with it.
	Status int
	Header http.Header
	// Lost drops the connection.
	Lost bool
	// Sent has the request passed on and carried out all the same, before its answer is lost or replaced.
	Sent bool
}

// Rule says what becomes of a request. It is called by many goroutines at once.
type Rule func(Request) Answer

// A Proxy passes requests on to an API server with all rights.
type Proxy struct {
	address  string
	server   *http.Server
	next     *httputil.ReverseProxy
	requests apirequest.RequestInfoFactory
	mu       sync.Mutex
	rule     Rule
	number   int
	writes   []Request
	journal  []Request
	watches  map[*http.Request]func()
}

// New starts a proxy in front of the API server of a configuration, which has all rights.
func New(config *rest.Config) (*Proxy, error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("reaching the API server: %w", err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("reaching the API server: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the proxy: %w", err)
	}
	p := &Proxy{
		address:  "http://" + listener.Addr().String(),
		requests: apirequest.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")},
		watches:  map[*http.Request]func(){},
		next: &httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
			// Watches are to be seen at once.
			FlushInterval: -1, Transport: transport,
			// That a connection ends is what this is for.
			ErrorLog:     log.New(io.Discard, "", 0),
			ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		},
	}
	p.server = &http.Server{Handler: p, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = p.server.Serve(listener) }()
	return p, nil
}

// Close ends the proxy and all connections through it.
func (p *Proxy) Close() error { return p.server.Close() }

// WriteKubeconfig writes a kubeconfig by which a process uses the proxy.
func (p *Proxy) WriteKubeconfig(file string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["proxy"] = &clientcmdapi.Cluster{Server: p.address}
	config.Contexts["proxy"] = &clientcmdapi.Context{Cluster: "proxy"}
	config.CurrentContext = "proxy"
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return os.Chmod(file, 0o600)
}

// Restart has a new rule hold, nil for none, and begins to count and to note down writes anew.
func (p *Proxy) Restart(rule Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rule, p.number, p.writes = rule, 0, nil
}

// Writes are the requests to change something since Restart, in the order in which they came, whatever became of them.
func (p *Proxy) Writes() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Request(nil), p.writes...)
}

// Mark returns a point in the journal of all writes, which no Restart cuts short, for Since.
func (p *Proxy) Mark() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.journal)
}

// Since returns the requests to change something that came after a mark, in the order in which they came, whatever became of them.
func (p *Proxy) Since(mark int) []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Request(nil), p.journal[mark:]...)
}

// DropWatches ends all watches that are open.
func (p *Proxy) DropWatches() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, end := range p.watches {
		end()
	}
}

// ServeHTTP passes a request on as the rule says.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, rule := p.note(r)
	var answer Answer
	if rule != nil {
		answer = rule(request)
	}
	if answer.Before != nil {
		answer.Before()
	}
	switch {
	case answer.Sent:
	case answer.Lost:
		panic(http.ErrAbortHandler)
	case answer.Status != 0:
		refuse(w, answer)
		return
	}
	if request.Verb == "watch" {
		p.watch(w, r)
		return
	}
	if answer.After == nil && !answer.Sent {
		p.next.ServeHTTP(w, r)
		return
	}
	// The API server's answer is held back until what is to happen has happened.
	held := &recorder{header: http.Header{}}
	p.next.ServeHTTP(held, r)
	if answer.After != nil {
		answer.After()
	}
	switch {
	case answer.Lost:
		panic(http.ErrAbortHandler)
	case answer.Status != 0:
		refuse(w, answer)
	default:
		held.replay(w)
	}
}

func (p *Proxy) note(r *http.Request) (Request, Rule) {
	info, err := p.requests.NewRequestInfo(r)
	if err != nil || !info.IsResourceRequest {
		return Request{Verb: "get"}, nil
	}
	request := Request{Verb: info.Verb, Resource: info.Resource, Namespace: info.Namespace, Name: info.Name}
	if info.APIGroup != "" {
		request.Resource += "." + info.APIGroup
	}
	if info.Subresource != "" {
		request.Resource += "/" + info.Subresource
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch request.Verb {
	case "watch", "get", "list":
	default:
		if r.URL.Query().Has("dryRun") || bookkeeping(request.Resource) {
			break
		}
		p.number++
		request.Number = p.number
		p.writes = append(p.writes, request)
		p.journal = append(p.journal, request)
	}
	return request, p.rule
}

func bookkeeping(resource string) bool {
	return strings.HasPrefix(resource, "events") || strings.HasPrefix(resource, "leases.")
}

func (p *Proxy) watch(w http.ResponseWriter, r *http.Request) {
	dropped := make(chan struct{})
	var once sync.Once
	p.mu.Lock()
	p.watches[r] = func() { once.Do(func() { close(dropped) }) }
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.watches, r)
	}()
	ctx, cancel := contextUntil(r.Context(), dropped)
	defer cancel()
	p.next.ServeHTTP(w, r.WithContext(ctx))
}

// refuse answers as an API server does.
func refuse(w http.ResponseWriter, answer Answer) {
	maps.Copy(w.Header(), answer.Header)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(answer.Status)
	reason := map[int]string{
		http.StatusConflict: "Conflict", http.StatusForbidden: "Forbidden", http.StatusGone: "Expired",
		http.StatusTooManyRequests: "TooManyRequests", http.StatusInternalServerError: "InternalError",
		http.StatusServiceUnavailable: "ServiceUnavailable", http.StatusGatewayTimeout: "Timeout",
	}[answer.Status]
	_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"a fault on purpose","reason":`+
		strconv.Quote(reason)+`,"code":`+strconv.Itoa(answer.Status)+`}`)
}
