package text
import ("testing";"strings";"time")
func TestZZDepth(t *testing.T){
 for _,n:=range []int{1000,100000,1000000,4000000}{
  s:=[]byte(strings.Repeat("Â",n)+"¡")
  st:=time.Now()
  out:=RepairMojibake.Append(nil,s)
  t.Log(n,len(out),time.Since(st))
 }
}
