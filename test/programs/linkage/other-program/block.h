#pragma once
#ifdef WIDE
#define BLOCK 512
#else
#define BLOCK 256
#endif
