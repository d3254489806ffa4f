// A Vault for tests: the core, the HTTP API and the backends of HashiCorp Vault, without its command
// line, whose cloud libraries would double the time of the build. It begins empty: whoever uses it
// initializes, unseals and seals it by its API. It ends when its input does.
//
//	vault-server [-storage FOLDER] [-certificate FILE -key FILE [-client-ca FILE]]
//
// The first line of its output is its URL.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/hashicorp/go-hclog"
	kubernetes "github.com/hashicorp/vault-plugin-auth-kubernetes"
	kv "github.com/hashicorp/vault-plugin-secrets-kv"
	"github.com/hashicorp/vault/builtin/credential/approle"
	"github.com/hashicorp/vault/builtin/logical/transit"
	vaulthttp "github.com/hashicorp/vault/http"
	"github.com/hashicorp/vault/internalshared/configutil"
	"github.com/hashicorp/vault/sdk/helper/consts"
	"github.com/hashicorp/vault/sdk/logical"
	"github.com/hashicorp/vault/sdk/physical"
	"github.com/hashicorp/vault/sdk/physical/file"
	"github.com/hashicorp/vault/sdk/physical/inmem"
	"github.com/hashicorp/vault/vault"
)

var (
	secrets = map[string]logical.Factory{"kv": kv.Factory, "transit": transit.Factory}
	logins  = map[string]logical.Factory{"approle": approle.Factory, "kubernetes": kubernetes.Factory}
)

// What Vault knows beside the factories that it was given: which names are built in.
type registry struct{}

func (registry) factories(kind consts.PluginType) map[string]logical.Factory {
	switch kind {
	case consts.PluginTypeSecrets:
		return secrets
	case consts.PluginTypeCredential:
		return logins
	}
	return nil
}

func (r registry) Contains(name string, kind consts.PluginType) bool {
	_, found := r.factories(kind)[name]
	return found
}

func (r registry) Get(name string, kind consts.PluginType) (func() (interface{}, error), bool) {
	factory, found := r.factories(kind)[name]
	return func() (interface{}, error) { return factory, nil }, found
}

func (r registry) Keys(kind consts.PluginType) []string {
	var names []string
	for name := range r.factories(kind) {
		names = append(names, name)
	}
	return names
}

func (r registry) DeprecationStatus(name string, kind consts.PluginType) (consts.DeprecationStatus, bool) {
	return consts.Supported, r.Contains(name, kind)
}

func (registry) IsBuiltinEntPlugin(string, consts.PluginType) bool { return false }

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	storage := flag.String("storage", "", "a folder that keeps everything; otherwise memory does")
	certificate := flag.String("certificate", "", "of the server, PEM")
	key := flag.String("key", "", "of the certificate, PEM")
	clientCA := flag.String("client-ca", "", "clients must show a certificate of it")
	flag.Parse()

	logger := hclog.New(&hclog.LoggerOptions{Output: os.Stderr, Level: hclog.Warn})
	backend, err := open(*storage, logger)
	if err != nil {
		return err
	}
	core, err := vault.NewCore(&vault.CoreConfig{
		Physical:           backend,
		LogicalBackends:    secrets,
		CredentialBackends: logins,
		BuiltinRegistry:    registry{},
		DisableMlock:       true,
		Logger:             logger,
	})
	if err != nil {
		return err
	}
	listener, err := listen(*certificate, *key, *clientCA)
	if err != nil {
		return err
	}
	server := http.Server{Handler: vaulthttp.Handler.Handler(&vault.HandlerProperties{
		Core:           core,
		ListenerConfig: &configutil.Listener{Address: listener.Addr().String()},
	})}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	scheme := "http"
	if *certificate != "" {
		scheme = "https"
	}
	fmt.Printf("%s://%s\n", scheme, listener.Addr())
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return core.ShutdownWait()
}

func open(folder string, logger hclog.Logger) (physical.Backend, error) {
	if folder == "" {
		return inmem.NewInmem(nil, logger)
	}
	return file.NewFileBackend(map[string]string{"path": folder}, logger)
}

func listen(certificate, key, clientCA string) (net.Listener, error) {
	plain, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil || certificate == "" {
		return plain, err
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if clientCA != "" {
		pem, err := os.ReadFile(clientCA)
		if err != nil {
			return nil, err
		}
		config.ClientCAs = x509.NewCertPool()
		config.ClientCAs.AppendCertsFromPEM(pem)
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return tls.NewListener(plain, config), nil
}
