// The agent of agent.json in Go: it sells the most frequent words of a text.
//
//	go run examples/creator.go SIGNING_KEY_FILE PORT [MARKETPLACE_URL]
//
// With MARKETPLACE_URL it refuses every call that this marketplace did not sign, as a creator should. It needs only the
// standard library, and follows "The protocol" of docs/creators.md.
package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxBodyBytes = 8 << 20
	mostAnswers  = 10_000
	clockSkew    = 60
)

// call is what the marketplace sends.
type call struct {
	ExecutionID    string          `json:"execution_id"`
	Task           string          `json:"task"`
	Parameters     json.RawMessage `json:"parameters"`
	UserPubkey     string          `json:"user_pubkey"`
	TimeoutSeconds int             `json:"timeout_seconds"`
}

// answer is what it gets. A failure has the fields as null, and an error.
type answer struct {
	ExecutionID string  `json:"execution_id"`
	Status      string  `json:"status"`
	Result      *string `json:"result"`
	ResultHash  *string `json:"result_hash"`
	Signature   *string `json:"signature"`
	Error       string  `json:"error,omitempty"`
}

type wordCount struct {
	Word  string `json:"word"`
	Count int    `json:"count"`
}

// Marks belong to their letters. Go's standard library has no NFC: an agent for texts that write é in two ways takes
// norm.NFC of golang.org/x/text first.
var words = regexp.MustCompile(`[\p{L}\p{M}\p{N}]+`)

// work is what callers pay for. Its error is a failure: the caller reads its text and gets the price back.
func work(task string, parameters json.RawMessage) (string, error) {
	given := struct {
		Text string `json:"text"`
		Top  int    `json:"top"`
	}{Top: 10}
	if err := json.Unmarshal(parameters, &given); err != nil {
		return "", errors.New("the parameters do not fit")
	}
	counts := map[string]int{}
	found := []wordCount{}
	for _, word := range words.FindAllString(strings.ToLower(given.Text), -1) {
		if counts[word]++; counts[word] == 1 {
			found = append(found, wordCount{Word: word})
		}
	}
	if len(found) == 0 {
		return "", errors.New("the text has no words")
	}
	for i := range found {
		found[i].Count = counts[found[i].Word]
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].Count > found[j].Count })
	if given.Top < len(found) {
		found = found[:given.Top]
	}
	result, err := json.Marshal(map[string]any{"words": found})
	return string(result), err
}

func failed(executionID, reason string) answer {
	return answer{ExecutionID: executionID, Status: "failed", Error: reason}
}

// sign makes the answer that is paid.
func (s *server) sign(executionID, result string) answer {
	result = strings.ToValidUTF8(result, "\uFFFD")
	sum := sha256.Sum256([]byte(result))
	resultHash := "sha256:" + hex.EncodeToString(sum[:])
	signature := "ed25519:" + base58(ed25519.Sign(s.key, []byte(resultHash)))
	return answer{executionID, "completed", &result, &resultHash, &signature, ""}
}

func base58(data []byte) string {
	const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	number, base, digit := new(big.Int).SetBytes(data), big.NewInt(58), new(big.Int)
	text := []byte{}
	for number.Sign() > 0 {
		number.DivMod(number, base, digit)
		text = append([]byte{alphabet[digit.Int64()]}, text...)
	}
	for i := 0; i < len(data) && data[i] == 0; i++ {
		text = append([]byte{'1'}, text...)
	}
	return string(text)
}

// job is the work for one execution. Its answer is there once done is closed.
type job struct {
	done   chan struct{}
	answer answer
}

type server struct {
	key       ed25519.PrivateKey
	publicKey string
	keys      *marketplaceKeys // nil: every call is accepted

	mutex sync.Mutex
	jobs  map[string]*job
	order []string
}

// answer works once for each execution: a retry waits for the same answer. It fails shortly before the deadline.
func (s *server) answer(c call) answer {
	s.mutex.Lock()
	current, known := s.jobs[c.ExecutionID]
	if !known {
		current = &job{done: make(chan struct{})}
		s.jobs[c.ExecutionID] = current
		if s.order = append(s.order, c.ExecutionID); len(s.order) > mostAnswers {
			delete(s.jobs, s.order[0])
			s.order = s.order[1:]
		}
		go s.run(current, c)
	}
	s.mutex.Unlock()
	select {
	case <-current.done:
		return current.answer
	case <-time.After(time.Duration(c.TimeoutSeconds) * 900 * time.Millisecond):
		return failed(c.ExecutionID, "not finished in time")
	}
}

func (s *server) run(current *job, c call) {
	defer close(current.done)
	defer func() {
		if fault := recover(); fault != nil {
			log.Printf("execution %s failed: %v", c.ExecutionID, fault)
			current.answer = failed(c.ExecutionID, "the agent failed with an internal error")
		}
	}()
	result, err := work(c.Task, c.Parameters)
	if err != nil {
		current.answer = failed(c.ExecutionID, err.Error())
		return
	}
	current.answer = s.sign(c.ExecutionID, result)
}

// marketplaceKeys are the keys that the marketplace publishes. An unknown key causes a new read, at most once a minute.
type marketplaceKeys struct {
	url   string
	mutex sync.Mutex
	keys  map[string]ed25519.PublicKey
	read  time.Time
}

func (k *marketplaceKeys) find(keyID string) (ed25519.PublicKey, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	age := time.Since(k.read)
	if _, known := k.keys[keyID]; age > 10*time.Minute || (age > time.Minute && !known) {
		client := http.Client{Timeout: 10 * time.Second}
		response, err := client.Get(k.url)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return nil, errors.New(k.url + " answered with status " + response.Status)
		}
		var directory struct {
			Keys []struct{ Kid, X string }
		}
		if err := json.NewDecoder(io.LimitReader(response.Body, 64<<10)).Decode(&directory); err != nil {
			return nil, err
		}
		k.keys, k.read = map[string]ed25519.PublicKey{}, time.Now()
		for _, listed := range directory.Keys {
			if key, err := base64.RawURLEncoding.DecodeString(listed.X); err == nil && len(key) == ed25519.PublicKeySize {
				k.keys[listed.Kid] = key
			}
		}
	}
	return k.keys[keyID], nil
}

var (
	covered = []string{
		"@method", "@authority", "@path", "content-type", "content-digest", "marketplace-signing-key", "marketplace-purpose",
	}
	signatureInput = regexp.MustCompile(`^sig1=(\("` + strings.Join(covered, `" "`) + `"\);created=(\d+);expires=(\d+);` +
		`nonce="[\w-]+";keyid="([\w-]+)";alg="ed25519";tag="agent-marketplace-call")$`)
	signatureHeader = regexp.MustCompile(`^sig1=:([A-Za-z0-9+/]{86}==):$`)
)

// isSigned reports if the marketplace signed this call. An error says that its keys cannot be read now.
func (k *marketplaceKeys) isSigned(r *http.Request, body []byte) (bool, error) {
	stated := signatureInput.FindStringSubmatch(r.Header.Get("Signature-Input"))
	signature := signatureHeader.FindStringSubmatch(r.Header.Get("Signature"))
	sum := sha256.Sum256(body)
	digest := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	if stated == nil || signature == nil || r.Header.Get("Content-Digest") != digest {
		return false, nil
	}
	parameters, now := stated[1], time.Now().Unix()
	created, _ := strconv.ParseInt(stated[2], 10, 64)
	expires, _ := strconv.ParseInt(stated[3], 10, 64)
	if now < created-clockSkew || now > expires+clockSkew {
		return false, nil
	}
	key, err := k.find(stated[4])
	if key == nil || err != nil {
		return false, err
	}
	own := map[string]string{"@method": r.Method, "@authority": strings.ToLower(r.Host), "@path": r.URL.EscapedPath()}
	signed := ""
	for _, name := range covered {
		value, isOwn := own[name]
		if !isOwn {
			value = strings.TrimSpace(r.Header.Get(name))
		}
		signed += fmt.Sprintf("%q: %s\n", name, value)
	}
	signed += `"@signature-params": ` + parameters
	bytes, err := base64.StdEncoding.DecodeString(signature[1])
	return err == nil && ed25519.Verify(key, []byte(signed), bytes), nil
}

func (s *server) execute(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	if err != nil {
		http.Error(w, "{}", http.StatusRequestEntityTooLarge)
		return
	}
	if s.keys != nil {
		if isSigned, err := s.keys.isSigned(r, body); err != nil {
			http.Error(w, "{}", http.StatusServiceUnavailable) // The marketplace tries again.
			return
		} else if !isSigned {
			http.Error(w, "{}", http.StatusUnauthorized)
			return
		}
	}
	var c call
	if err := json.Unmarshal(body, &c); err != nil || c.ExecutionID == "" {
		http.Error(w, "{}", http.StatusBadRequest)
		return
	}
	var made answer
	if wanted := r.Header.Get("Marketplace-Signing-Key"); wanted != "" && wanted != s.publicKey {
		made = failed(c.ExecutionID, "this server does not have the key "+wanted)
	} else {
		made = s.answer(c)
	}
	text, err := json.Marshal(made)
	if err != nil {
		http.Error(w, "{}", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(text)
}

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: creator SIGNING_KEY_FILE PORT [MARKETPLACE_URL]")
	}
	file, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	// 64 numbers: the seed, then the public key.
	var pair [ed25519.PrivateKeySize]byte
	if err := json.Unmarshal(file, &pair); err != nil {
		log.Fatal(err)
	}
	s := &server{key: pair[:], publicKey: base58(pair[32:]), jobs: map[string]*job{}}
	if len(os.Args) > 3 {
		s.keys = &marketplaceKeys{url: strings.TrimRight(os.Args[3], "/") + "/.well-known/http-message-signatures-directory"}
	}
	http.HandleFunc("/execute", s.execute)
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Answering on http://%s/execute\n", listener.Addr())
	log.Fatal(http.Serve(listener, nil))
}
