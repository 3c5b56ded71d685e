#include "run.h"
#define PING(x) PONG(x, PING)
#define PONG(x, again) again(x) PONG
#define SELF SELF + SELF
#define D0(x) x, x
#define D1(x) D0(D0(x))
#define D2(x) D1(D1(x))
#define D3(x) D2(D2(x))
#define D4(x) D3(D3(x))
#define D5(x) D4(D4(x))
#define D6(x) D5(D5(x))
int many[] = {D6(1)};
void never() { PING(PING(PING(1)))(PONG)(SELF); }

#define THREADS 256
void run(float* a) { runScale(a, THREADS); }
