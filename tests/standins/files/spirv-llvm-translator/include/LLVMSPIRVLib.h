#pragma once
const char* translator();
